#include "feed.h"

#include <gtest/gtest.h>

#include "fatal.h"
#include "temporary.h"

namespace comseclab {
namespace {

const Nonce kNonce("0123456789abcdef");

std::vector<std::string> opaque_payloads(size_t count, size_t size) {
  std::vector<std::string> payloads;
  for (size_t i = 0; i < count; ++i) payloads.emplace_back(size, static_cast<char>(i));
  return payloads;
}

TEST(Feed, GivesAllRoundsInOrderMarked) {
  const testing::TemporaryFolder folder;
  testing::write(folder / "a.spool", testing::spool_of(opaque_payloads(300, 32)));
  const Spool spool(folder / "a.spool");
  Feed feed({spool, nullptr, kNonce, 2, 300, 3});
  feed.wait_filled();
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t index = 0; index < 300; ++index) {
      const Prepared& prepared = feed.front();
      const Mark mark = read_mark(prepared.opaque, kNonce);
      ASSERT_TRUE(mark.genuine);
      ASSERT_EQ(mark.index, index);
      ASSERT_EQ(mark.writer, 2 * kRoundsPerWriter + round);
      ASSERT_EQ(prepared.opaque.back(), static_cast<std::byte>(index));
      feed.pop();
    }
  }
}

TEST(Feed, EndsWhileFull) {
  const testing::TemporaryFolder folder;
  testing::write(folder / "a.spool", testing::spool_of(opaque_payloads(300, 32)));
  const Spool spool(folder / "a.spool");
  Feed feed({spool, nullptr, kNonce, 0, 300, 1});
  feed.wait_filled();
  EXPECT_EQ(feed.dry(), 0U);
}

TEST(Feed, PassesOnWhatItMet) {
  const testing::TemporaryFolder folder;
  auto payloads = opaque_payloads(3, 32);
  payloads.emplace_back("too short");
  testing::write(folder / "a.spool", testing::spool_of(payloads));
  const Spool spool(folder / "a.spool");
  Feed feed({spool, nullptr, kNonce, 0, 4, 1});
  EXPECT_THROW(feed.wait_filled(), Fatal);
}

TEST(Feed, RefusesMoreMessagesThanThereAre) {
  const testing::TemporaryFolder folder;
  testing::write(folder / "a.spool", testing::spool_of(opaque_payloads(3, 32)));
  const Spool spool(folder / "a.spool");
  EXPECT_THROW(Feed({spool, nullptr, kNonce, 0, 4, 1}), Fatal);
}

}  // namespace
}  // namespace comseclab
