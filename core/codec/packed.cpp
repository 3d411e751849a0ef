#include "core/codec/packed.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <cstring>
#include <memory>

#include "core/base/error.hpp"

namespace cambium::lowp {
namespace {

constexpr int zstd_level = 3;
// A frame that Zstandard skips: magic, length, content (RFC 8878, section 3.1.2).
constexpr std::uint32_t skipped_magic = 0x184D2A5Cu;
constexpr std::size_t skipped_head = 8, skipped_size = skipped_head + sizeof(std::uint64_t);
// In the fifth byte of a frame: it has a checksum of its content (section 3.1.1.1.1).
constexpr std::byte has_checksum{4};

void put_word(std::byte* out, std::uint64_t value, int bytes) {
  for (int k = 0; k < bytes; ++k) out[k] = static_cast<std::byte>(value >> (8 * k));
}
std::uint64_t get_word(const std::byte* in, int bytes) {
  std::uint64_t value = 0;
  for (int k = 0; k < bytes; ++k) value |= static_cast<std::uint64_t>(in[k]) << (8 * k);
  return value;
}

/// Zstandard's own frame within the output of pack(), after the checksum was compared.
std::span<const std::byte> content_of(std::span<const std::byte> packed, std::span<const std::byte> header) {
  if (packed.size() < 5 || (packed[4] & has_checksum) == std::byte{0}) return packed;
  if (packed.size() < skipped_size) throw DamagedStream{};
  const std::byte* end = packed.data() + packed.size() - skipped_size;
  if (get_word(end, 4) != skipped_magic || get_word(end + 4, 4) != sizeof(std::uint64_t) ||
      get_word(end + skipped_head, 8) != checksum(packed.first(packed.size() - skipped_size), checksum(header)))
    throw DamagedStream{};
  return packed.first(packed.size() - skipped_size);
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t sum) {
  for (auto byte : bytes) sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ull;
  return sum;
}

std::vector<std::byte> pack(std::span<const std::byte> payload, std::span<const std::byte> header) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  if (!context) throw InternalError("Zstandard: no memory");
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, zstd_level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::vector<std::byte> out(ZSTD_compressBound(payload.size()) + skipped_size);
  const auto n = ZSTD_compress2(context.get(), out.data(), out.size() - skipped_size, payload.data(), payload.size());
  if (ZSTD_isError(n)) throw InternalError(fmt::format("Zstandard: {}", ZSTD_getErrorName(n)));
  out.resize(n + skipped_size);
  put_word(out.data() + n, skipped_magic, 4);
  put_word(out.data() + n + 4, sizeof(std::uint64_t), 4);
  put_word(out.data() + n + skipped_head, checksum(std::span(out).first(n), checksum(header)), 8);
  return out;
}

std::vector<std::byte> unpack(std::span<const std::byte> packed, std::span<const std::byte> header,
                              std::uint64_t length) {
  const auto content = content_of(packed, header);
  // The length is that of the frame, too, so a damaged one cannot demand arbitrary amounts of memory.
  if (ZSTD_getFrameContentSize(content.data(), content.size()) != length) throw DamagedStream{};
  // Nor can one that has damaged both: Zstandard makes no more than 128 kB of four bytes.
  if (length / 131072 > content.size()) throw DamagedStream{};
  std::vector<std::byte> out(length);
  if (ZSTD_decompress(out.data(), out.size(), content.data(), content.size()) != length) throw DamagedStream{};
  return out;
}

}  // namespace cambium::lowp
