#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace cambium::train {

/// Purposes of the memory of a sharded model. The first three are allocated for the entire run.
enum class Held {
  weights,
  gradients,
  states,
  windows,   ///< weights and gradients of modules in use, in the network's precision
  messages,  ///< parts received from other ranks
  copies     ///< the best model and complete models: initial weights, validation, checkpoints, export
};
constexpr std::size_t held_kinds = 6;

/// Bytes allocated on a rank, by purpose. Every Block and Counted reports here, so the figures are actual allocations.
class MemoryLedger {
 public:
  /// `limit` bounds everything except copies, or copies as well if `copies_too`; 0 for none.
  explicit MemoryLedger(std::int64_t limit = 0, bool copies_too = false) : limit_(limit), copies_too_(copies_too) {}
  /// InputError, listing the allocations, if the limit would be exceeded.
  void change(Held kind, std::int64_t bytes);
  std::int64_t now(Held kind) const { return now_[static_cast<std::size_t>(kind)]; }
  std::int64_t peak(Held kind) const { return peak_[static_cast<std::size_t>(kind)]; }
  /// Peak at any one time, without copies; and including copies.
  std::int64_t peak_in_steps() const { return peak_in_steps_; }
  std::int64_t peak() const { return peak_together_; }
  /// Bytes by which `more` bytes of copies would exceed the limit, if it includes copies; else 0.
  std::int64_t excess(std::int64_t more) const;
  std::int64_t limit() const { return limit_; }
  std::int64_t together() const { return in_steps() + now(Held::copies); }

 private:
  std::int64_t in_steps() const;
  std::int64_t limited() const { return copies_too_ ? together() : in_steps(); }
  std::array<std::int64_t, held_kinds> now_{}, peak_{};
  std::int64_t limit_, peak_in_steps_ = 0, peak_together_ = 0;
  bool copies_too_;
};

/// Accounts for the bytes of a buffer owned elsewhere, during its own lifetime.
class Counted {
 public:
  Counted() = default;
  Counted(MemoryLedger& ledger, Held kind, std::int64_t bytes) : ledger_(&ledger), kind_(kind), bytes_(bytes) {
    ledger.change(kind, bytes);
  }
  Counted(Counted&& other) noexcept { swap(other); }
  Counted& operator=(Counted&& other) noexcept {
    Counted moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Counted() {
    if (ledger_) ledger_->change(kind_, -bytes_);
  }

 private:
  void swap(Counted& other) {
    std::swap(ledger_, other.ledger_), std::swap(kind_, other.kind_), std::swap(bytes_, other.bytes_);
  }
  MemoryLedger* ledger_ = nullptr;
  Held kind_ = Held::copies;
  std::int64_t bytes_ = 0;
};

/// Zeroed memory, aligned to 64 bytes, counted in a ledger.
class Block {
 public:
  Block() = default;
  Block(MemoryLedger& ledger, Held kind, std::int64_t bytes);
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::int64_t bytes() const { return bytes_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  Counted counted_;
  std::int64_t bytes_ = 0;
  std::unique_ptr<std::byte[], Free> data_;
};

}  // namespace cambium::train
