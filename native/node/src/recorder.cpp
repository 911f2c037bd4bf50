#include "recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "fatal.h"

namespace comseclab {
namespace {

void convert(Send& send, const Clock& clock) {
  for (int64_t* time : {&send.begin, &send.serialised, &send.sent}) *time = clock.ns_of(*time);
}

void convert(Receipt& receipt, const Clock& clock) {
  for (int64_t* time : {&receipt.arrived, &receipt.done}) *time = clock.ns_of(*time);
}

class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path)
      : path_(std::move(path)), file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (file_ < 0) refuse();
  }
  ~OutputFile() {
    if (file_ >= 0) close(file_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, size_t bytes) {
    const auto* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(file_, from, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) refuse();
      from += written;
      bytes -= static_cast<size_t>(written);
    }
  }

 private:
  [[noreturn]] void refuse() const {
    throw Fatal("cannot write " + path_.string() + ": " + std::strerror(errno), "make room or name another folder");
  }

  std::filesystem::path path_;
  int file_;
};

}  // namespace

FaultedMemory::FaultedMemory(size_t bytes)
    : data_(mmap(nullptr, std::max<size_t>(bytes, 1), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)),
      bytes_(std::max<size_t>(bytes, 1)) {
  if (data_ == MAP_FAILED) {
    throw Fatal("no memory for " + std::to_string(bytes >> 20U) + " MiB of records", "ask for fewer messages a trial");
  }
}

FaultedMemory::~FaultedMemory() {
  munmap(data_, bytes_);
}

template <typename Record>
size_t Recorder<Record>::write(const std::filesystem::path& path, const std::filesystem::path& kept_path,
                               const Clock& clock) {
  // Later records find no room, so that threads of the middleware may go on delivering.
  const size_t added = next_.exchange(capacity_);
  const size_t count = std::min(added, capacity_);
  auto* records = static_cast<Record*>(memory_.data());
  OutputFile file(path);
  std::optional<OutputFile> kept_file;
  if (keep_bytes_ > 0) kept_file.emplace(kept_path);
  std::vector<Record> block;
  for (size_t first = 0; first < count; first += 4096) {
    block.clear();
    for (size_t slot = first; slot < std::min(count, first + 4096); ++slot) {
      if (std::atomic_ref(last_time(records[slot])).load(std::memory_order_acquire) == 0) continue;
      block.push_back(records[slot]);
      convert(block.back(), clock);
      if (kept_file) {
        uint32_t bytes = 0;
        std::memcpy(&bytes, kept(slot), sizeof bytes);
        kept_file->write(kept(slot), sizeof bytes + bytes);
      }
    }
    file.write(block.data(), block.size() * sizeof(Record));
  }
  return added - count;
}

template class Recorder<Send>;
template class Recorder<Receipt>;

}  // namespace comseclab
