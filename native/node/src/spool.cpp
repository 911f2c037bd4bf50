#include "spool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "fatal.h"

namespace comseclab {
namespace {

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  uint64_t messages;
  uint64_t index_offset;
  uint64_t largest_payload;
  uint8_t padding[24];
};
static_assert(sizeof(FileHeader) == 64);

bool read_fully(int file, void* to, size_t bytes, uint64_t offset) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = pread(file, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

Spool::Spool(const std::filesystem::path& path) : path_(path) {
  try {
    open_and_map();
    check_entries();
  } catch (...) {
    if (map_ != nullptr) munmap(map_, map_size_);
    if (file_ >= 0) close(file_);
    throw;
  }
}

Spool::~Spool() {
  if (map_ != nullptr) munmap(map_, map_size_);
  close(file_);
}

void Spool::open_and_map() {
  file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file_ < 0 || fstat(file_, &status) != 0) refuse(std::strerror(errno));
  file_size_ = static_cast<uint64_t>(status.st_size);
  FileHeader header{};
  if (!read_fully(file_, &header, sizeof header, 0)) refuse("truncated");
  if (std::memcmp(header.magic, "CSLSPOOL", 8) != 0) refuse("not a spool");
  if (header.version != 1) refuse("of a version other than 1");
  if (header.messages == 0) refuse("empty");
  if (header.index_offset > file_size_ || header.messages > (file_size_ - header.index_offset) / sizeof(Entry) ||
      header.index_offset % alignof(Entry) != 0) {
    refuse("truncated");
  }
  largest_payload_ = header.largest_payload;
  index_offset_ = header.index_offset;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t map_offset = index_offset_ / page * page;
  map_size_ = header.messages * sizeof(Entry) + (index_offset_ - map_offset);
  void* map = mmap(nullptr, map_size_, PROT_READ, MAP_SHARED | MAP_POPULATE, file_, static_cast<off_t>(map_offset));
  if (map == MAP_FAILED) refuse(std::strerror(errno));
  map_ = map;
  const auto* first = static_cast<const std::byte*>(map_) + (index_offset_ - map_offset);
  entries_ = {reinterpret_cast<const Entry*>(first), header.messages};
  posix_fadvise(file_, 0, static_cast<off_t>(index_offset_), POSIX_FADV_SEQUENTIAL);
}

void Spool::check_entries() const {
  for (const Entry& entry : entries_) {
    if (entry.size > largest_payload_) refuse("inconsistent: a payload is larger than the largest");
    if (entry.offset > index_offset_ || entry.size > index_offset_ - entry.offset) {
      refuse("inconsistent: a payload lies outside the file");
    }
  }
}

void Spool::read(const Entry& entry, std::span<std::byte> buffer) const {
  if (!read_fully(file_, buffer.data(), entry.size, entry.offset)) refuse("truncated");
}

void Spool::refuse(const char* what) const {
  throw Fatal("spool " + path_.string() + ": " + what, "write it again from its recording");
}

}  // namespace comseclab
