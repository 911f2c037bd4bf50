#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace comseclab {

struct Layout;

/// A field of a message as it stands in memory. Fixed arrays are one field with a count.
struct Field {
  enum class Kind {
    primitive,           ///< `count` values of `width` bytes, in place
    string,              ///< an Owned of bytes, without the terminating zero
    primitive_sequence,  ///< an Owned of values of `width` bytes
    nested,              ///< `count` messages of layout `nested`, in place
    nested_sequence      ///< an Owned of messages of layout `nested`
  };
  Kind kind;
  uint32_t offset;
  uint32_t width = 0;
  uint32_t count = 1;
  const Layout* nested = nullptr;
  bool ros1_only = false;  ///< the `seq` of a ROS 1 header: there in memory, absent from CDR
};

/// What a string or sequence is in memory: elements it owns.
struct Owned {
  std::byte* data;
  uint64_t count;
};

/// How a message type lies in memory: as a C struct, each string and sequence an Owned.
struct Layout {
  std::string name;
  std::vector<Field> fields;
  uint32_t size = 0;
  uint32_t alignment = 1;
  bool owns = false;  ///< holds an Owned somewhere in place
};

inline constexpr const char* kHeaderType = "std_msgs/msg/Header";

/// All types of one trial, from the type description of docs/formats.md.
class Types {
 public:
  /// `description` must outlive this object. Layouts are made when asked for.
  explicit Types(const nlohmann::json& description) : description_(description) {}

  /// Throws Fatal on a type that is not described, recursive or malformed.
  const Layout& layout(const std::string& name);

 private:
  Layout compile(const std::string& name);
  void append(Layout& layout, const std::string& type, bool ros1_only);

  const nlohmann::json& description_;
  std::map<std::string, std::unique_ptr<Layout>> layouts_;  // a null one is being made
};

/// A message in memory that owns its strings and sequences, as a real ROS message does.
class Message {
 public:
  explicit Message(const Layout& layout);
  ~Message();
  Message(Message&& other) noexcept : layout_(other.layout_), data_(other.data_) { other.data_ = nullptr; }
  Message& operator=(Message&&) = delete;
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] const Layout& layout() const { return *layout_; }
  /// Bytes held, those of strings and sequences included.
  [[nodiscard]] size_t footprint() const;

 private:
  const Layout* layout_;
  std::byte* data_;
};

/// Gives `owned` new elements, not initialised unless `zero`; frees the old ones, which must own nothing themselves.
void assign(Owned& owned, uint64_t count, size_t width, bool zero);

}  // namespace comseclab
