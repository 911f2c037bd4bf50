#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace comseclab {

/// The messages of one stream, on disk (docs/formats.md, "Spool"): the index is mapped, payloads are read when asked
/// for.
class Spool {
 public:
  struct Entry {
    int64_t intended_ns;  ///< since the round's start
    uint64_t offset;
    uint32_t size;
    uint32_t reserved;
  };
  static_assert(sizeof(Entry) == 24);

  /// Throws Fatal when the file is missing, truncated or no spool.
  explicit Spool(const std::filesystem::path& path);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  [[nodiscard]] uint64_t largest_payload() const { return largest_payload_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Reads the payload of `entry` into `buffer`, which has its size. Throws Fatal when the file has become shorter.
  void read(const Entry& entry, std::span<std::byte> buffer) const;

 private:
  void open_and_map();
  void check_entries() const;
  [[noreturn]] void refuse(const char* what) const;

  std::filesystem::path path_;
  int file_ = -1;
  uint64_t file_size_ = 0;
  void* map_ = nullptr;
  size_t map_size_ = 0;
  uint64_t index_offset_ = 0;
  uint64_t largest_payload_ = 0;
  std::span<const Entry> entries_;
};

}  // namespace comseclab
