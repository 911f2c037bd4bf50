#include "layout.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "fatal.h"

namespace comseclab {
namespace {

constexpr uint32_t kLongestArray = 1U << 24U;
constexpr uint32_t kLargestStruct = 1U << 28U;

uint32_t primitive_width(const std::string& type) {
  static const std::map<std::string, uint32_t> widths = {
      {"bool", 1},  {"byte", 1},   {"char", 1},  {"int8", 1},   {"uint8", 1},   {"int16", 2},  {"uint16", 2},
      {"int32", 4}, {"uint32", 4}, {"int64", 8}, {"uint64", 8}, {"float32", 4}, {"float64", 8}};
  const auto found = widths.find(type);
  return found == widths.end() ? 0 : found->second;
}

uint32_t round_up(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// "float32[9]" -> "float32", 9; "float32[]" -> "float32", sequence; "float32" -> one.
struct Shape {
  std::string element;
  uint32_t count = 1;
  bool sequence = false;
};

Shape parse_shape(const std::string& type) {
  const size_t bracket = type.find('[');
  if (bracket == std::string::npos) return {type};
  const std::string element = type.substr(0, bracket);
  const std::string inner = type.substr(bracket + 1, type.size() - bracket - 2);
  if (!type.ends_with(']') || inner.size() > 8 ||
      !std::all_of(inner.begin(), inner.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    throw Fatal("field type '" + type + "' is neither T, T[] nor T[9]", "see Type description in docs/formats.md");
  }
  if (inner.empty()) return {element, 1, true};
  const auto count = static_cast<uint32_t>(std::stoul(inner));
  if (count > kLongestArray) throw Fatal("array '" + type + "' is too long", "use a sequence");
  return {element, count, false};
}

const Owned& owned_at(const std::byte* data, uint32_t offset) {
  return *reinterpret_cast<const Owned*>(data + offset);
}

size_t width_in(const Field& field) {
  return field.nested != nullptr ? field.nested->size : field.width;
}

void release(const Layout& layout, const std::byte* data) {
  if (!layout.owns) return;
  for (const Field& field : layout.fields) {
    const std::byte* begin = data + field.offset;
    switch (field.kind) {
      case Field::Kind::primitive:
        break;
      case Field::Kind::nested:
        for (uint32_t i = 0; i < field.count; ++i) release(*field.nested, begin + size_t{i} * field.nested->size);
        break;
      case Field::Kind::nested_sequence: {
        const Owned& owned = owned_at(data, field.offset);
        for (uint64_t i = 0; i < owned.count; ++i) release(*field.nested, owned.data + i * field.nested->size);
        std::free(owned.data);
        break;
      }
      case Field::Kind::string:
      case Field::Kind::primitive_sequence:
        for (uint32_t i = 0; i < field.count; ++i) std::free(owned_at(begin, i * sizeof(Owned)).data);
        break;
    }
  }
}

size_t footprint_of(const Layout& layout, const std::byte* data) {
  if (!layout.owns) return 0;
  size_t bytes = 0;
  for (const Field& field : layout.fields) {
    const std::byte* begin = data + field.offset;
    if (field.kind == Field::Kind::nested) {
      for (uint32_t i = 0; i < field.count; ++i) {
        bytes += footprint_of(*field.nested, begin + size_t{i} * field.nested->size);
      }
    } else if (field.kind != Field::Kind::primitive) {
      for (uint32_t i = 0; i < field.count; ++i) {
        const Owned& owned = owned_at(begin, i * sizeof(Owned));
        bytes += owned.count * width_in(field);
        if (field.kind != Field::Kind::nested_sequence) continue;
        for (uint64_t k = 0; k < owned.count; ++k) {
          bytes += footprint_of(*field.nested, owned.data + k * field.nested->size);
        }
      }
    }
  }
  return bytes;
}

}  // namespace

const Layout& Types::layout(const std::string& name) {
  const auto [entry, fresh] = layouts_.try_emplace(name);
  if (fresh) {
    entry->second = std::make_unique<Layout>(compile(name));
  } else if (entry->second == nullptr) {
    throw Fatal("type " + name + " contains itself", "correct the type description");
  }
  return *entry->second;
}

Layout Types::compile(const std::string& name) {
  const auto described = description_.find(name);
  if (described == description_.end()) {
    throw Fatal("unknown type " + name, "its description must stand under \"types\"");
  }
  Layout layout{.name = name};
  if (name == kHeaderType) append(layout, "uint32", true);
  for (const auto& field : *described) {
    if (!field.is_array() || field.size() != 2 || !field[1].is_string()) {
      throw Fatal("type " + name + ": a field is not [name, type]", "see Type description in docs/formats.md");
    }
    append(layout, field[1].get<std::string>(), false);
  }
  layout.size = round_up(std::max(layout.size, 1U), layout.alignment);
  return layout;
}

void Types::append(Layout& layout, const std::string& type, bool ros1_only) {
  const Shape shape = parse_shape(type);
  Field field{.kind = Field::Kind::primitive, .offset = 0, .count = shape.count, .ros1_only = ros1_only};
  uint32_t alignment = alignof(Owned);
  uint64_t size = sizeof(Owned);
  const bool text = shape.element == "string" || shape.element == "wstring";
  if (text && shape.sequence) {
    // A sequence of strings is one of messages that hold a string each.
    auto& wrapped = layouts_[shape.element];
    if (wrapped == nullptr) {
      wrapped = std::make_unique<Layout>(Layout{.name = shape.element});
      append(*wrapped, shape.element, false);
    }
    field.kind = Field::Kind::nested_sequence;
    field.nested = wrapped.get();
  } else if (text) {
    field.kind = shape.element == "string" ? Field::Kind::string : Field::Kind::primitive_sequence;
    field.width = shape.element == "string" ? 1 : 4;
    size = uint64_t{shape.count} * sizeof(Owned);
  } else if (const uint32_t width = primitive_width(shape.element); width != 0) {
    field.width = width;
    if (shape.sequence) {
      field.kind = Field::Kind::primitive_sequence;
    } else {
      alignment = width;
      size = uint64_t{shape.count} * width;
    }
  } else {
    field.nested = &this->layout(shape.element);
    field.kind = shape.sequence ? Field::Kind::nested_sequence : Field::Kind::nested;
    if (!shape.sequence) {
      alignment = field.nested->alignment;
      size = uint64_t{shape.count} * field.nested->size;
    }
  }
  layout.owns =
      layout.owns || (field.kind == Field::Kind::nested ? field.nested->owns : field.kind != Field::Kind::primitive);
  field.offset = round_up(layout.size, alignment);
  if (field.offset + size > kLargestStruct) throw Fatal("type " + layout.name + " is too large", "use sequences");
  layout.size = field.offset + static_cast<uint32_t>(size);
  layout.alignment = std::max(layout.alignment, alignment);
  layout.fields.push_back(field);
}

Message::Message(const Layout& layout) : layout_(&layout), data_(static_cast<std::byte*>(std::calloc(1, layout.size))) {
  if (data_ == nullptr) throw std::bad_alloc();
}

Message::~Message() {
  if (data_ == nullptr) return;
  release(*layout_, data_);
  std::free(data_);
}

size_t Message::footprint() const {
  return layout_->size + footprint_of(*layout_, data_);
}

void assign(Owned& owned, uint64_t count, size_t width, bool zero) {
  std::free(owned.data);
  owned = {nullptr, 0};
  if (count == 0) return;
  const size_t bytes = count * width;
  owned.data = static_cast<std::byte*>(zero ? std::calloc(1, bytes) : std::malloc(bytes));
  if (owned.data == nullptr) throw std::bad_alloc();
  owned.count = count;
}

}  // namespace comseclab
