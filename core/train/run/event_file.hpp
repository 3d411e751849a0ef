#pragma once
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/parallel/context.hpp"

namespace cambium::train {

/// A value as a function of the step; the name may contain slashes.
using Scalar = std::pair<std::string, double>;

/// CRC-32C (Castagnoli), rotated and shifted as in TFRecord files.
std::uint32_t masked_crc(std::string_view bytes);

/// TensorBoard event file with scalars: TFRecords (length, its checksum, content, its checksum; little endian), each an
/// Event message of Protocol Buffers: wall_time (1, double), step (2, int64), file_version (3, only in the first
/// record) or summary (5) with values (1) of tag (1) and simple_value (2, float32). Written by rank 0.
class EventFile {
 public:
  static constexpr const char* name = "events.out.tfevents.cambium";
  /// Collective. With `resumed_at`, complete records up to that step of the earlier run are kept.
  EventFile(const Context& context, std::optional<std::int64_t> resumed_at);
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;
  ~EventFile();
  /// Collective. InputError if writing fails.
  void add(std::int64_t step, std::span<const Scalar> scalars);

 private:
  void append(const std::string& record);

  const Comm& comm_;
  std::string path_;
  std::FILE* file_ = nullptr;  ///< rank 0 only
};

}  // namespace cambium::train
