#include "codec.h"

#include <gtest/gtest.h>

#include <random>

#include "fatal.h"

namespace comseclab {
namespace {

using nlohmann::json;

/// Every kind of field, in awkward order; that the bytes are ROS's own is shown against rosbags in tests/node.
const json kTypes = json::parse(R"({
  "all/msg/All": [["flag", "bool"], ["wide", "float64"], ["name", "string"], ["small", "int16[3]"],
                  ["points", "all/msg/Point[]"], ["pairs", "all/msg/Pair[2]"], ["odd", "all/msg/Odd[]"],
                  ["texts", "string[]"], ["two", "string[2]"], ["numbers", "float64[]"], ["runes", "wstring"],
                  ["header", "std_msgs/msg/Header"], ["last", "uint8"]],
  "all/msg/Point": [["x", "float32"], ["y", "float32"], ["z", "float32"]],
  "all/msg/Pair": [["a", "uint8"], ["b", "uint64"]],
  "all/msg/Odd": [["a", "uint64"], ["b", "uint8"]],
  "std_msgs/msg/Header": [["stamp", "builtin_interfaces/msg/Time"], ["frame_id", "string"]],
  "builtin_interfaces/msg/Time": [["sec", "int32"], ["nanosec", "uint32"]]
})");

std::vector<std::byte> bytes_of(const std::vector<int>& values) {
  std::vector<std::byte> bytes;
  bytes.reserve(values.size());
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

/// A message with random content: random counts, and bytes that happen to be what they must.
class Filler {
 public:
  explicit Filler(uint32_t seed) : random_(seed) {}

  void fill(const Layout& layout, std::byte* data) {
    for (const Field& field : layout.fields) {
      std::byte* at = data + field.offset;
      switch (field.kind) {
        case Field::Kind::primitive:
          if (!field.ros1_only) noise(at, size_t{field.width} * field.count);
          break;
        case Field::Kind::nested:
          for (uint32_t i = 0; i < field.count; ++i) fill(*field.nested, at + size_t{i} * field.nested->size);
          break;
        case Field::Kind::nested_sequence: {
          auto& owned = *reinterpret_cast<Owned*>(at);
          assign(owned, random_() % 4, field.nested->size, true);
          for (uint64_t i = 0; i < owned.count; ++i) fill(*field.nested, owned.data + i * field.nested->size);
          break;
        }
        case Field::Kind::string:
        case Field::Kind::primitive_sequence:
          for (uint32_t i = 0; i < field.count; ++i) {
            Owned& owned = reinterpret_cast<Owned*>(at)[i];
            assign(owned, random_() % 6, field.width, false);
            noise(owned.data, owned.count * field.width);
          }
          break;
      }
    }
  }

 private:
  void noise(std::byte* at, size_t count) {
    for (size_t i = 0; i < count; ++i) at[i] = static_cast<std::byte>(1 + random_() % 255);
  }
  std::mt19937 random_;
};

class BothWires : public ::testing::TestWithParam<Wire> {};

TEST_P(BothWires, RandomMessagesComeBack) {
  Types types(kTypes);
  const Layout& layout = types.layout("all/msg/All");
  const Codec codec(layout, GetParam());
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Message message(layout);
    Filler(seed).fill(layout, message.data());
    std::vector<std::byte> first(4096);
    std::vector<std::byte> second(4096);
    const auto size = codec.encode(message, first);
    ASSERT_TRUE(size);
    Message decoded(layout);
    ASSERT_TRUE(codec.decode(std::span(first).first(*size), decoded));
    ASSERT_EQ(codec.encode(decoded, second), size);
    ASSERT_EQ(first, second);
    EXPECT_EQ(message.footprint(), decoded.footprint());
    for (size_t length = 0; length < *size; ++length) {
      Message cut(layout);
      ASSERT_FALSE(codec.decode(std::span(first).first(length), cut)) << length << " of " << *size;
      ASSERT_FALSE(codec.encode(message, std::span(second).first(length)));
    }
  }
}

TEST_P(BothWires, AnyBytesAreSafeToDecode) {
  Types types(kTypes);
  const Layout& layout = types.layout("all/msg/All");
  const Codec codec(layout, GetParam());
  std::vector<std::byte> original(4096);
  Message message(layout);
  Filler(1).fill(layout, message.data());
  original.resize(codec.encode(message, original).value());
  std::mt19937 random(2);  // NOLINT: the same bytes every time
  for (int run = 0; run < 20000; ++run) {
    std::vector<std::byte> damaged = original;
    if (run % 2 == 0) {
      for (auto& byte : damaged) byte = static_cast<std::byte>(random());
      std::copy_n(original.begin(), 4, damaged.begin());
    }
    for (int change = 0; change < 4; ++change) damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    damaged.resize(random() % damaged.size());
    Message decoded(layout);
    if (!codec.decode(damaged, decoded)) continue;
    std::vector<std::byte> again(4 * original.size());
    EXPECT_TRUE(codec.encode(decoded, again));
  }
}

INSTANTIATE_TEST_SUITE_P(Codec, BothWires, ::testing::Values(Wire::cdr, Wire::ros1));

TEST(Codec, CdrAlignsFromBehindTheEncapsulation) {
  const json described =
      json::parse(R"({"t": [["a", "uint8"], ["b", "uint32"], ["s", "string"], ["d", "float64[]"]]})");
  Types types(described);
  const Codec codec(types.layout("t"), Wire::cdr);
  const auto bytes = bytes_of(
      {0, 1, 0, 0, 7, 0, 0, 0, 1, 2, 3, 4, 3, 0, 0, 0, 'h', 'i', 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
  Message message(types.layout("t"));
  ASSERT_TRUE(codec.decode(bytes, message));
  std::vector<std::byte> again(bytes.size());
  EXPECT_EQ(codec.encode(message, again), bytes.size());
  EXPECT_EQ(again, bytes);
}

TEST(Codec, Ros1PacksAndGivesHeadersASequenceNumber) {
  json described = kTypes;
  described["t"] = json::parse(R"([["a", "uint8"], ["h", "std_msgs/msg/Header"]])");
  Types types(described);
  const Codec codec(types.layout("t"), Wire::ros1);
  const auto bytes = bytes_of({7, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 'x'});
  Message message(types.layout("t"));
  ASSERT_TRUE(codec.decode(bytes, message));
  std::vector<std::byte> again(bytes.size());
  EXPECT_EQ(codec.encode(message, again), bytes.size());
  EXPECT_EQ(again, bytes);
}

TEST(Codec, RefusesOtherEncapsulations) {
  const json described = json::parse(R"({"t": [["a", "uint8"]]})");
  Types types(described);
  const Codec codec(types.layout("t"), Wire::cdr);
  for (const auto& head : {bytes_of({0, 0, 0, 0, 1}), bytes_of({0, 3, 0, 0, 1}), bytes_of({0, 1, 0}), bytes_of({})}) {
    Message message(types.layout("t"));
    EXPECT_FALSE(codec.decode(head, message));
  }
}

TEST(Types, RefuseWhatIsNoType) {
  const json described = json::parse(R"({
    "loop": [["self", "loop[]"]], "unknown": [["a", "nothing"]], "shape": [["a", "uint8[x]"]], "open": [["a", "uint8["]],
    "negative": [["a", "uint8[-1]"]], "huge": [["a", "uint8[99999999]"]], "field": [["a"]], "text": "uint8",
    "deep": [["a", "wide[9999999]"]], "wide": [["a", "uint64[9999999]"]], "number": [["a", 4]]})");
  for (const char* name :
       {"loop", "unknown", "shape", "open", "negative", "huge", "field", "text", "deep", "number", "?"}) {
    Types types(described);
    EXPECT_THROW(types.layout(name), Fatal) << name;
  }
}

TEST(Types, RefuseSequencesOfNothing) {
  const json described = json::parse(R"({"t": [["a", "empty[]"]], "empty": []})");
  Types types(described);
  EXPECT_THROW(Codec(types.layout("t"), Wire::cdr), Fatal);
}

}  // namespace
}  // namespace comseclab
