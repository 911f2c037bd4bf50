#include "identity.h"

#include <gtest/gtest.h>

#include <cstring>

#include "codec.h"
#include "fatal.h"

namespace comseclab {
namespace {

using nlohmann::json;

const json kTypes = json::parse(R"({
  "stamped": [["value", "float64"], ["header", "std_msgs/msg/Header"]],
  "tf": [["names", "string[]"], ["transforms", "stamped[]"]],
  "twist": [["linear", "vector"], ["angular", "vector"]],
  "vector": [["x", "float64"], ["y", "float64"], ["z", "float64"]],
  "mixed": [["a", "uint8"], ["b", "uint8[19]"], ["c", "uint64"], ["tail", "string"]],
  "short": [["a", "uint64"], ["b", "uint64"], ["tail", "string"], ["c", "uint64"]],
  "std_msgs/msg/Header": [["stamp", "builtin_interfaces/msg/Time"], ["frame_id", "string"]],
  "builtin_interfaces/msg/Time": [["sec", "int32"], ["nanosec", "uint32"]]
})");
const Nonce kNonce("0123456789abcdef");
const Nonce kOther("0123456789abcdee");
const Mark kMark{77, 3002, true};

void expect_round_trip(const Carrier& carrier, Message& message) {
  EXPECT_FALSE(carrier.read(message, kNonce).genuine);
  ASSERT_TRUE(carrier.write(message, kNonce, kMark));
  const Mark read = carrier.read(message, kNonce);
  EXPECT_TRUE(read.genuine);
  EXPECT_EQ(read.index, kMark.index);
  EXPECT_EQ(read.writer, kMark.writer);
  EXPECT_FALSE(carrier.read(message, kOther).genuine);
}

TEST(Carrier, MarksStampedAndUnstampedMessages) {
  for (const char* name : {"stamped", "twist", "mixed"}) {
    Types types(kTypes);
    Message message(types.layout(name));
    expect_round_trip(Carrier(types.layout(name)), message);
  }
}

TEST(Carrier, MarksTheFirstElementOfASequence) {
  Types types(kTypes);
  const Layout& layout = types.layout("tf");
  const Carrier carrier(layout);
  Message message(layout);
  EXPECT_FALSE(carrier.write(message, kNonce, kMark));
  EXPECT_FALSE(carrier.read(message, kNonce).genuine);
  auto& transforms = *reinterpret_cast<Owned*>(message.data() + layout.fields[1].offset);
  assign(transforms, 2, types.layout("stamped").size, true);
  expect_round_trip(carrier, message);
}

TEST(Carrier, WritesTheDocumentedBytes) {
  Types types(kTypes);
  const Layout& layout = types.layout("mixed");
  Message message(layout);
  ASSERT_TRUE(Carrier(layout).write(message, kNonce, kMark));
  std::vector<std::byte> bytes(128);
  const size_t size = Codec(layout, Wire::ros1).encode(message, bytes).value();
  ASSERT_EQ(size, 32U);
  const char expected[] = "comsecl\0\x01\x23\x45\x67\x89\xab\xcd\xef\x4d\0\0\0\xba\x0b\0\0";
  EXPECT_EQ(std::memcmp(bytes.data(), expected, kMarkBytes), 0);
  std::vector<std::byte> opaque(kMarkBytes);
  write_mark(opaque, kNonce, kMark);
  EXPECT_EQ(std::memcmp(opaque.data(), expected, kMarkBytes), 0);
}

TEST(Carrier, RefusesATypeWithoutRoom) {
  Types types(kTypes);
  EXPECT_THROW(Carrier(types.layout("short")), Fatal);
}

TEST(Nonce, IsSixteenHexadecimalDigits) {
  for (const char* wrong : {"", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcdeg"}) {
    EXPECT_THROW(Nonce{wrong}, Fatal) << wrong;
  }
}

}  // namespace
}  // namespace comseclab
