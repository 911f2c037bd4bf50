#include "codec.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "fatal.h"

namespace comseclab {

static_assert(std::endian::native == std::endian::little, "the codec copies values as they lie in memory");

namespace {

constexpr size_t kEncapsulation = 4;
constexpr std::byte kLittleEndianCdr[kEncapsulation] = {std::byte{0}, std::byte{1}, std::byte{0}, std::byte{0}};

struct Step {
  enum class Kind {
    copy,    ///< `width` bytes, in place
    string,  ///< u32 length, bytes (and a zero in CDR)
    plain,   ///< u32 count, then that many elements of `width` bytes each, alike in memory and on the wire
    nested,  ///< u32 count, then that many runs of `inner`
    repeat   ///< `count` runs of `inner`, in place
  };
  Kind kind;
  uint8_t alignment = 1;
  uint32_t offset = 0;
  uint32_t width = 0;  ///< of an element in memory, for `nested` and `repeat`
  uint32_t count = 0;
  std::shared_ptr<const Codec::Programme> inner = nullptr;
};

}  // namespace

struct Codec::Programme {
  std::vector<Step> steps;
  size_t least_bytes = 0;  ///< no message is shorter on the wire
};

namespace {

using Programme = Codec::Programme;

class Compiler {
 public:
  explicit Compiler(Wire wire) : wire_(wire) {}

  std::shared_ptr<const Programme> compile(const Layout& layout) {
    auto programme = std::make_shared<Programme>();
    append(*programme, layout, 0);
    for (const Step& step : programme->steps) programme->least_bytes += least_bytes(step);
    return programme;
  }

 private:
  void append(Programme& programme, const Layout& layout, uint32_t base) {
    for (const Field& field : layout.fields) {
      if (field.ros1_only && wire_ == Wire::cdr) continue;
      append(programme, field, base + field.offset);
    }
  }

  void append(Programme& programme, const Field& field, uint32_t offset) {
    const uint8_t alignment = wire_ == Wire::cdr ? static_cast<uint8_t>(field.width) : 1;
    switch (field.kind) {
      case Field::Kind::primitive:
        copy(programme, offset, field.width * field.count, alignment);
        break;
      case Field::Kind::string:
        for (uint32_t i = 0; i < field.count; ++i) {
          programme.steps.push_back({.kind = Step::Kind::string, .offset = offset + i * uint32_t{sizeof(Owned)}});
        }
        break;
      case Field::Kind::primitive_sequence:
        for (uint32_t i = 0; i < field.count; ++i) {
          programme.steps.push_back({Step::Kind::plain, alignment, offset + i * uint32_t{sizeof(Owned)}, field.width});
        }
        break;
      case Field::Kind::nested:
        if (field.count == 1) {
          append(programme, *field.nested, offset);
        } else if (field.count > 1) {
          repeat(programme, field, offset);
        }
        break;
      case Field::Kind::nested_sequence:
        sequence(programme, field, offset);
        break;
    }
  }

  /// Adds to the run before where the gap between them is the same in memory and on the wire. Values no wider than the
  /// first one's alignment keep the run's shape wherever it begins.
  void copy(Programme& programme, uint32_t offset, uint32_t bytes, uint8_t alignment) const {
    if (bytes == 0) return;
    if (!programme.steps.empty()) {
      Step& run = programme.steps.back();
      const uint32_t end = wire_ == Wire::cdr ? (run.width + alignment - 1) / alignment * alignment : run.width;
      if (run.kind == Step::Kind::copy && alignment <= run.alignment && run.offset + end == offset) {
        run.width = end + bytes;
        return;
      }
    }
    programme.steps.push_back({Step::Kind::copy, alignment, offset, bytes});
  }

  void repeat(Programme& programme, const Field& field, uint32_t offset) {
    auto inner = compile(*field.nested);
    if (const Step* run = whole(*inner, *field.nested)) {
      copy(programme, offset, run->width * field.count, run->alignment);
    } else {
      programme.steps.push_back({Step::Kind::repeat, 1, offset, field.nested->size, field.count, std::move(inner)});
    }
  }

  void sequence(Programme& programme, const Field& field, uint32_t offset) {
    auto inner = compile(*field.nested);
    if (inner->least_bytes == 0) throw Fatal("a sequence of the empty type " + field.nested->name, "give it a field");
    if (const Step* run = whole(*inner, *field.nested)) {
      programme.steps.push_back({Step::Kind::plain, run->alignment, offset, run->width});
    } else {
      programme.steps.push_back({Step::Kind::nested, 1, offset, field.nested->size, 0, std::move(inner)});
    }
  }

  /// The one copy that an element is, if it is: then an array of them is one copy, too.
  static const Step* whole(const Programme& inner, const Layout& element) {
    const bool one = inner.steps.size() == 1 && inner.steps[0].kind == Step::Kind::copy;
    return one && inner.steps[0].width == element.size && inner.steps[0].offset == 0 ? &inner.steps[0] : nullptr;
  }

  static size_t least_bytes(const Step& step) {
    switch (step.kind) {
      case Step::Kind::copy:
        return step.width;
      case Step::Kind::repeat:
        return step.count * step.inner->least_bytes;
      default:
        return sizeof(uint32_t);
    }
  }

  Wire wire_;
};

const Owned& owned_at(const std::byte* at) {
  return *reinterpret_cast<const Owned*>(at);
}
Owned& owned_at(std::byte* at) {
  return *reinterpret_cast<Owned*>(at);
}

/// Position on the wire, with CDR's alignment counted from behind the encapsulation header.
template <Wire wire, typename Byte>
class Cursor {
 public:
  explicit Cursor(std::span<Byte> bytes) : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

  [[nodiscard]] size_t position() const { return static_cast<size_t>(at_ - begin_); }
  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - at_); }

  /// The next `bytes` bytes behind the padding, or null past the end.
  Byte* take(size_t bytes, size_t alignment) {
    const size_t padding = wire == Wire::cdr ? -position() & (alignment - 1) : 0;
    if (padding > left() || bytes > left() - padding) return nullptr;
    if constexpr (!std::is_const_v<Byte>) std::fill_n(at_, padding, std::byte{0});
    Byte* taken = at_ + padding;
    at_ = taken + bytes;
    return taken;
  }

 private:
  Byte* begin_;
  Byte* at_;
  Byte* end_;
};

template <Wire wire>
class Encoder {
 public:
  explicit Encoder(std::span<std::byte> buffer) : cursor_(buffer) {}
  [[nodiscard]] size_t size() const { return cursor_.position(); }

  bool run(const Programme& programme, const std::byte* data) {
    for (const Step& step : programme.steps) {
      if (!run(step, data + step.offset)) return false;
    }
    return true;
  }

 private:
  bool run(const Step& step, const std::byte* from) {
    switch (step.kind) {
      case Step::Kind::copy:
        return put(from, step.width, step.alignment);
      case Step::Kind::string: {
        const Owned& text = owned_at(from);
        const uint32_t terminator = wire == Wire::cdr ? 1 : 0;
        return put_count(text.count + terminator) && put(text.data, text.count, 1) && put("", terminator, 1);
      }
      case Step::Kind::plain: {
        const Owned& sequence = owned_at(from);
        return put_count(sequence.count) &&
               (sequence.count == 0 || put(sequence.data, sequence.count * step.width, step.alignment));
      }
      case Step::Kind::nested: {
        const Owned& sequence = owned_at(from);
        return put_count(sequence.count) && run_many(step, sequence.data, sequence.count);
      }
      case Step::Kind::repeat:
        return run_many(step, from, step.count);
    }
    return false;
  }

  bool run_many(const Step& step, const std::byte* from, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      if (!run(*step.inner, from + i * step.width)) return false;
    }
    return true;
  }

  bool put(const void* from, size_t bytes, size_t alignment) {
    std::byte* to = cursor_.take(bytes, alignment);
    if (to == nullptr) return false;
    if (bytes > 0) std::memcpy(to, from, bytes);
    return true;
  }

  bool put_count(uint64_t count) {
    const auto narrow = static_cast<uint32_t>(count);
    return put(&narrow, sizeof narrow, sizeof narrow);
  }

  Cursor<wire, std::byte> cursor_;
};

template <Wire wire>
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : cursor_(bytes) {}

  bool run(const Programme& programme, std::byte* data) {
    for (const Step& step : programme.steps) {
      if (!run(step, data + step.offset)) return false;
    }
    return true;
  }

 private:
  bool run(const Step& step, std::byte* to) {
    switch (step.kind) {
      case Step::Kind::copy: {
        const std::byte* from = cursor_.take(step.width, step.alignment);
        if (from == nullptr) return false;
        std::memcpy(to, from, step.width);
        return true;
      }
      case Step::Kind::string:
        return get_string(owned_at(to));
      case Step::Kind::plain:
        return get_plain(step, owned_at(to));
      case Step::Kind::nested:
        return get_nested(step, owned_at(to));
      case Step::Kind::repeat:
        for (uint32_t i = 0; i < step.count; ++i) {
          if (!run(*step.inner, to + size_t{i} * step.width)) return false;
        }
        return true;
    }
    return false;
  }

  bool get_count(uint32_t& count) {
    const std::byte* from = cursor_.take(sizeof count, sizeof count);
    if (from == nullptr) return false;
    std::memcpy(&count, from, sizeof count);
    return true;
  }

  bool get_string(Owned& text) {
    uint32_t length = 0;
    if (!get_count(length)) return false;
    const std::byte* from = cursor_.take(length, 1);
    if (from == nullptr) return false;
    if (wire == Wire::cdr && length > 0 && from[length - 1] == std::byte{0}) --length;
    fill(text, from, length, 1);
    return true;
  }

  bool get_plain(const Step& step, Owned& sequence) {
    uint32_t count = 0;
    if (!get_count(count)) return false;
    if (count == 0) return true;
    const std::byte* from = cursor_.take(size_t{count} * step.width, step.alignment);
    if (from == nullptr) return false;
    fill(sequence, from, count, step.width);
    return true;
  }

  bool get_nested(const Step& step, Owned& sequence) {
    uint32_t count = 0;
    if (!get_count(count) || count > cursor_.left() / step.inner->least_bytes) return false;
    assign(sequence, count, step.width, true);
    for (uint32_t i = 0; i < count; ++i) {
      if (!run(*step.inner, sequence.data + size_t{i} * step.width)) return false;
    }
    return true;
  }

  static void fill(Owned& owned, const std::byte* from, uint64_t count, size_t width) {
    assign(owned, count, width, false);
    if (count > 0) std::memcpy(owned.data, from, count * width);
  }

  Cursor<wire, const std::byte> cursor_;
};

template <Wire wire>
std::optional<size_t> encode_as(const Programme& programme, const Message& message, std::span<std::byte> buffer) {
  Encoder<wire> encoder(buffer);
  if (!encoder.run(programme, message.data())) return std::nullopt;
  return encoder.size();
}

}  // namespace

Codec::Codec(const Layout& layout, Wire wire)
    : layout_(layout), wire_(wire), programme_(Compiler(wire).compile(layout)) {}

std::optional<size_t> Codec::encode(const Message& message, std::span<std::byte> buffer) const {
  if (wire_ == Wire::ros1) return encode_as<Wire::ros1>(*programme_, message, buffer);
  if (buffer.size() < kEncapsulation) return std::nullopt;
  std::memcpy(buffer.data(), kLittleEndianCdr, kEncapsulation);
  const auto size = encode_as<Wire::cdr>(*programme_, message, buffer.subspan(kEncapsulation));
  return size ? std::optional(*size + kEncapsulation) : std::nullopt;
}

bool Codec::decode(std::span<const std::byte> bytes, Message& message) const {
  if (wire_ == Wire::ros1) return Decoder<Wire::ros1>(bytes).run(*programme_, message.data());
  // The last two bytes of the encapsulation are options, of no meaning here.
  if (bytes.size() < kEncapsulation || std::memcmp(bytes.data(), kLittleEndianCdr, 2) != 0) return false;
  return Decoder<Wire::cdr>(bytes.subspan(kEncapsulation)).run(*programme_, message.data());
}

}  // namespace comseclab
