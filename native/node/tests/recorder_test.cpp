#include "recorder.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "fatal.h"
#include "temporary.h"

namespace comseclab {
namespace {

const Clock kClock({ClockSource::monotonic, 1e9, 100, 0});

template <typename Record>
std::vector<Record> read(const std::filesystem::path& path) {
  std::vector<Record> records(std::filesystem::file_size(path) / sizeof(Record));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(records.data()), static_cast<std::streamsize>(records.size() * sizeof(Record)));
  return records;
}

TEST(Recorder, WritesWhatWasAddedInNanoseconds) {
  const testing::TemporaryFolder folder;
  Recorder<Send> recorder(10, 0);
  Send send{};
  send.stream = 3;
  send.index = 7;
  send.intended = 42;
  send.begin = 150;
  send.serialised = 160;
  send.sent = 170;
  recorder.add(send, {});
  EXPECT_EQ(recorder.write(folder / "sends.bin", "", kClock), 0U);
  const auto sends = read<Send>(folder / "sends.bin");
  ASSERT_EQ(sends.size(), 1U);
  EXPECT_EQ(sends[0].stream, 3);
  EXPECT_EQ(sends[0].index, 7U);
  EXPECT_EQ(sends[0].intended, 42);
  EXPECT_EQ(sends[0].begin, 50);
  EXPECT_EQ(sends[0].serialised, 60);
  EXPECT_EQ(sends[0].sent, 70);
}

TEST(Recorder, TakesReceiptsFromManyThreadsAndCountsTheRest) {
  constexpr uint32_t kThreads = 4;
  constexpr uint32_t kEach = 5000;
  constexpr size_t kRoom = kThreads * kEach - 100;
  const testing::TemporaryFolder folder;
  Recorder<Receipt> recorder(kRoom, 0);
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint32_t i = 0; i < kEach; ++i) {
        Receipt receipt{};
        receipt.index = thread * kEach + i;
        receipt.size = ~receipt.index;
        receipt.done = 1000 + receipt.index;
        recorder.add(receipt, {});
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(recorder.write(folder / "receipts.bin", "", kClock), 100U);
  std::set<uint32_t> indices;
  for (const Receipt& receipt : read<Receipt>(folder / "receipts.bin")) {
    EXPECT_EQ(receipt.size, ~receipt.index);
    EXPECT_EQ(receipt.done, 900 + receipt.index);
    indices.insert(receipt.index);
  }
  EXPECT_EQ(indices.size(), kRoom);
}

TEST(Recorder, AddsNothingOnceWritten) {
  const testing::TemporaryFolder folder;
  Recorder<Receipt> recorder(10, 0);
  recorder.write(folder / "receipts.bin", "", kClock);
  Receipt receipt{};
  receipt.done = 1;
  recorder.add(receipt, {});
  EXPECT_EQ(std::filesystem::file_size(folder / "receipts.bin"), 0U);
}

TEST(Recorder, KeepsTheBeginningOfEachMessage) {
  const testing::TemporaryFolder folder;
  Recorder<Receipt> recorder(3, 4);
  Receipt receipt{};
  receipt.done = 150;
  for (const std::string_view message : {"ab", "", "abcdef", "no room"}) {
    receipt.size = static_cast<uint32_t>(message.size());
    recorder.add(receipt, std::as_bytes(std::span(message)));
  }
  EXPECT_EQ(recorder.write(folder / "receipts.bin", folder / "received.bin", kClock), 1U);
  EXPECT_EQ(read<Receipt>(folder / "receipts.bin").size(), 3U);
  std::string expected;
  for (const std::string_view kept : {"ab", "", "abcd"}) {
    testing::put(expected, kept.size(), 4);
    expected += kept;
  }
  const auto kept = read<char>(folder / "received.bin");
  EXPECT_EQ(std::string(kept.begin(), kept.end()), expected);
}

TEST(Recorder, WritesNoMessagesWhereNoneAreKept) {
  const testing::TemporaryFolder folder;
  Recorder<Receipt> recorder(3, 0);
  recorder.write(folder / "receipts.bin", folder / "received.bin", kClock);
  EXPECT_FALSE(std::filesystem::exists(folder / "received.bin"));
}

TEST(Recorder, NamesAFullDisk) {
  Recorder<Receipt> recorder(10, 0);
  Receipt receipt{};
  receipt.done = 1;
  recorder.add(receipt, {});
  EXPECT_THROW(recorder.write("/dev/full", "", kClock), Fatal);
}

}  // namespace
}  // namespace comseclab
