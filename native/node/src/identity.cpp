#include "identity.h"

#include <algorithm>
#include <cstring>

#include "fatal.h"

namespace comseclab {
namespace {

/// A std_msgs/msg/Header in memory, as layout.cpp lays it out.
struct Header {
  uint32_t seq;
  uint32_t sec;
  uint32_t nanosec;
  Owned frame_id;
};

bool is_header(const Layout& layout) {
  if (layout.name != kHeaderType) return false;
  const bool expected =
      layout.fields.size() == 3 && layout.size == sizeof(Header) && layout.fields[1].kind == Field::Kind::nested &&
      layout.fields[1].offset == offsetof(Header, sec) && layout.fields[1].nested->size == 8 &&
      layout.fields[2].kind == Field::Kind::string && layout.fields[2].offset == offsetof(Header, frame_id);
  if (!expected) throw Fatal("std_msgs/msg/Header is not described as stamp and frame_id", "correct its description");
  return true;
}

int hexadecimal_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

Nonce::Nonce(const std::string& hexadecimal) : text_("comseclab:" + hexadecimal) {
  const bool valid = hexadecimal.size() == 16 && std::all_of(hexadecimal.begin(), hexadecimal.end(),
                                                             [](char c) { return hexadecimal_value(c) >= 0; });
  if (!valid) throw Fatal("nonce '" + hexadecimal + "' is not 16 lower-case hexadecimal digits", "correct the config");
  std::memcpy(bytes_.data(), "comsecl", 8);
  for (size_t i = 0; i < 8; ++i) {
    const int value = hexadecimal_value(hexadecimal[2 * i]) * 16 + hexadecimal_value(hexadecimal[2 * i + 1]);
    bytes_[8 + i] = static_cast<std::byte>(value);
  }
}

void write_mark(std::span<std::byte> payload, const Nonce& nonce, const Mark& mark) {
  std::memcpy(payload.data(), nonce.bytes().data(), 16);
  std::memcpy(payload.data() + 16, &mark.index, 4);
  std::memcpy(payload.data() + 20, &mark.writer, 4);
}

Mark read_mark(std::span<const std::byte> payload, const Nonce& nonce) {
  Mark mark;
  mark.genuine = std::memcmp(payload.data(), nonce.bytes().data(), 16) == 0;
  std::memcpy(&mark.index, payload.data() + 16, 4);
  std::memcpy(&mark.writer, payload.data() + 20, 4);
  return mark;
}

Carrier::Carrier(const Layout& layout) : type_(layout.name) {
  if (find_header(layout, 0)) {
    std::reverse(path_.begin(), path_.end());
    return;
  }
  uint32_t missing = kMarkBytes;
  collect(layout, 0, missing);
  if (missing > 0) {
    throw Fatal(
        "messages of type " + type_ + " cannot carry their identity: no header, and fewer than 24 leading bytes",
        "choose another topic");
  }
}

bool Carrier::find_header(const Layout& layout, uint32_t offset) {
  if (is_header(layout)) {
    path_.push_back(offset);
    return true;
  }
  for (const Field& field : layout.fields) {
    if (field.nested == nullptr || field.count == 0) continue;
    const bool sequence = field.kind == Field::Kind::nested_sequence;
    if (find_header(*field.nested, sequence ? 0 : offset + field.offset)) {
      if (sequence) path_.push_back(offset + field.offset);
      return true;
    }
  }
  return false;
}

/// Takes leading fixed-size primitives until none is missing; false once something else comes first.
bool Carrier::collect(const Layout& layout, uint32_t offset, uint32_t& missing) {
  for (const Field& field : layout.fields) {
    if (missing == 0) return false;
    if (field.kind == Field::Kind::primitive) {
      const uint32_t taken = std::min(missing, field.width * field.count);
      pieces_.push_back({offset + field.offset, taken});
      missing -= taken;
    } else if (field.kind == Field::Kind::nested) {
      for (uint32_t i = 0; i < field.count; ++i) {
        if (!collect(*field.nested, offset + field.offset + i * field.nested->size, missing)) return false;
      }
    } else {
      return false;
    }
  }
  return true;
}

const std::byte* Carrier::header_in(const Message& message) const {
  const std::byte* at = message.data() + path_[0];
  for (size_t hop = 1; hop < path_.size(); ++hop) {
    const auto* sequence = reinterpret_cast<const Owned*>(at);
    if (sequence->count == 0) return nullptr;
    at = sequence->data + path_[hop];
  }
  return at;
}

bool Carrier::write(Message& message, const Nonce& nonce, const Mark& mark) const {
  if (path_.empty()) {
    std::array<std::byte, kMarkBytes> bytes{};
    write_mark(bytes, nonce, mark);
    size_t done = 0;
    for (const Piece& piece : pieces_) {
      std::memcpy(message.data() + piece.offset, bytes.data() + done, piece.size);
      done += piece.size;
    }
    return true;
  }
  auto* header = reinterpret_cast<Header*>(const_cast<std::byte*>(header_in(message)));
  if (header == nullptr) return false;
  header->sec = mark.index;
  header->nanosec = mark.writer;
  assign(header->frame_id, nonce.text().size(), 1, false);
  std::memcpy(header->frame_id.data, nonce.text().data(), nonce.text().size());
  return true;
}

Mark Carrier::read(const Message& message, const Nonce& nonce) const {
  if (path_.empty()) {
    std::array<std::byte, kMarkBytes> bytes{};
    size_t done = 0;
    for (const Piece& piece : pieces_) {
      std::memcpy(bytes.data() + done, message.data() + piece.offset, piece.size);
      done += piece.size;
    }
    return read_mark(bytes, nonce);
  }
  const auto* header = reinterpret_cast<const Header*>(header_in(message));
  if (header == nullptr) return {};
  const std::string_view frame(reinterpret_cast<const char*>(header->frame_id.data), header->frame_id.count);
  return {header->sec, header->nanosec, frame == nonce.text()};
}

}  // namespace comseclab
