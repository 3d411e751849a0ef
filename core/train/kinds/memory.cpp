#include "core/train/kinds/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "core/base/key_error.hpp"

namespace cambium::train {

constexpr std::align_val_t alignment{64};

std::int64_t MemoryLedger::in_steps() const {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < held_kinds; ++k)
    if (static_cast<Held>(k) != Held::copies) sum += now_[k];
  return sum;
}

void MemoryLedger::change(Held kind, std::int64_t bytes) {
  const auto mb = [](std::int64_t n) { return 1e-6 * static_cast<double>(n); };
  if (bytes > 0 && limit_ > 0 && (copies_too_ || kind != Held::copies) && limited() + bytes > limit_)
    throw KeyError(
        "train.parallel.limit", "parallel.memory_limit",
        fmt::format(
            "parallel.memory_limit is {:.3f} MB per rank, but {:.3f} MB are needed: weights {:.3f}, gradients {:.3f}, "
            "states {:.3f}, windows and messages {:.3f}, and {:.3f} more; divide more (parallel.preset zero1, "
            "zero2, zero3), start more ranks, or raise memory_limit",
            mb(limit_), mb(limited() + bytes), mb(now(Held::weights)), mb(now(Held::gradients)), mb(now(Held::states)),
            mb(now(Held::windows) + now(Held::messages)), mb(bytes)));
  auto& held = now_[static_cast<std::size_t>(kind)];
  held += bytes;
  auto& peak = peak_[static_cast<std::size_t>(kind)];
  peak = std::max(peak, held);
  peak_in_steps_ = std::max(peak_in_steps_, in_steps());
  peak_together_ = std::max(peak_together_, together());
}

std::int64_t MemoryLedger::excess(std::int64_t more) const {
  return copies_too_ && limit_ > 0 ? std::max<std::int64_t>(0, together() + more - limit_) : 0;
}

void Block::Free::operator()(std::byte* data) const { ::operator delete[](data, alignment); }

Block::Block(MemoryLedger& ledger, Held kind, std::int64_t bytes) : counted_(ledger, kind, bytes), bytes_(bytes) {
  data_.reset(static_cast<std::byte*>(
      ::operator new[](static_cast<std::size_t>(std::max<std::int64_t>(bytes, 64)), alignment)));
  std::memset(data_.get(), 0, static_cast<std::size_t>(bytes));
}

}  // namespace cambium::train
