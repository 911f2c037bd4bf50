#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layout.h"

namespace comseclab {

/// The trial's nonce in the two forms messages carry it.
class Nonce {
 public:
  /// From 16 hexadecimal digits; throws Fatal on anything else.
  explicit Nonce(const std::string& hexadecimal);
  /// `comseclab:` and the digits.
  [[nodiscard]] std::string_view text() const { return text_; }
  /// `comsecl`, zero, and the nonce's 8 bytes.
  [[nodiscard]] const std::array<std::byte, 16>& bytes() const { return bytes_; }

 private:
  std::string text_;
  std::array<std::byte, 16> bytes_{};
};

/// What a message says of itself.
struct Mark {
  uint32_t index = 0;
  uint32_t writer = 0;
  bool genuine = false;  ///< carries this trial's nonce; set by reading
};

inline constexpr size_t kMarkBytes = 24;
inline constexpr uint32_t kRoundsPerWriter = 1000;

/// The 24 bytes at the beginning of an opaque payload (at least that long).
void write_mark(std::span<std::byte> payload, const Nonce& nonce, const Mark& mark);
Mark read_mark(std::span<const std::byte> payload, const Nonce& nonce);

/// Where messages of one type carry their mark: docs/formats.md, "Identity of a message".
class Carrier {
 public:
  /// Throws Fatal when the type has no place for it.
  explicit Carrier(const Layout& layout);

  /// False when this message has no place: the sequence that would hold its header is empty.
  [[nodiscard]] bool write(Message& message, const Nonce& nonce, const Mark& mark) const;
  [[nodiscard]] Mark read(const Message& message, const Nonce& nonce) const;

 private:
  struct Piece {
    uint32_t offset;
    uint32_t size;
  };

  bool find_header(const Layout& layout, uint32_t offset);
  bool collect(const Layout& layout, uint32_t offset, uint32_t& missing);
  [[nodiscard]] const std::byte* header_in(const Message& message) const;

  std::string type_;
  /// To the header: an offset in place, then for each further one through the first element of a sequence.
  std::vector<uint32_t> path_;
  std::vector<Piece> pieces_;
};

}  // namespace comseclab
