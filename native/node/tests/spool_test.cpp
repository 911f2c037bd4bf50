#include "spool.h"

#include <gtest/gtest.h>

#include <random>

#include "fatal.h"
#include "temporary.h"

namespace comseclab {
namespace {

const std::string kGood = testing::spool_of({"first", "the second", ""});

TEST(Spool, GivesPayloadsAndTimes) {
  const testing::TemporaryFolder folder;
  testing::write(folder / "a.spool", kGood);
  const Spool spool(folder / "a.spool");
  ASSERT_EQ(spool.entries().size(), 3U);
  EXPECT_EQ(spool.largest_payload(), 10U);
  std::string payload(10, ' ');
  spool.read(spool.entries()[1], std::as_writable_bytes(std::span(payload)));
  EXPECT_EQ(payload, "the second");
  EXPECT_EQ(spool.entries()[2].intended_ns, 2'000'000);
}

TEST(Spool, RefusesEveryTruncation) {
  const testing::TemporaryFolder folder;
  for (size_t length = 0; length < kGood.size(); ++length) {
    testing::write(folder / "a.spool", kGood.substr(0, length));
    EXPECT_THROW(Spool(folder / "a.spool"), Fatal) << length;
  }
}

TEST(Spool, SurvivesAnyHeaderAndIndex) {
  const testing::TemporaryFolder folder;
  std::mt19937 random(5);  // NOLINT: the same bytes every time
  for (int run = 0; run < 500; ++run) {
    std::string damaged = kGood;
    for (int change = 0; change < 3; ++change) damaged[random() % damaged.size()] = static_cast<char>(random());
    testing::write(folder / "a.spool", damaged);
    try {
      const Spool spool(folder / "a.spool");
      std::vector<std::byte> payload(spool.largest_payload() % 4096);
      for (const Spool::Entry& entry : spool.entries()) {
        if (entry.size <= payload.size()) spool.read(entry, payload);
      }
    } catch (const Fatal&) {
    }
  }
}

TEST(Spool, NamesTheMissingFile) {
  try {
    const Spool spool("/nowhere/a.spool");
    FAIL();
  } catch (const Fatal& fatal) {
    EXPECT_NE(std::string(fatal.what()).find("/nowhere/a.spool: No such file"), std::string::npos);
  }
}

}  // namespace
}  // namespace comseclab
