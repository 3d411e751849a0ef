#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace cambium::train {

/// Purposes of the memory of a divided model. The first three stay for the whole run.
enum class Held {
  weights,
  gradients,
  states,
  windows,   ///< weights and gradients of modules that are in use, in the network's precision
  messages,  ///< parts received from other ranks
  copies     ///< the best model, and whole models: first weights, validation, checkpoints, export
};
constexpr std::size_t held_kinds = 6;

/// Bytes that a rank holds, by purpose. Every Block and Counted reports here, so the figures are what was allocated.
class MemoryLedger {
 public:
  /// `limit` bounds all but copies, or these, too; 0 for none.
  explicit MemoryLedger(std::int64_t limit = 0, bool copies_too = false) : limit_(limit), copies_too_(copies_too) {}
  /// InputError, naming what is held, when the limit would be passed.
  void change(Held kind, std::int64_t bytes);
  std::int64_t now(Held kind) const { return now_[static_cast<std::size_t>(kind)]; }
  std::int64_t peak(Held kind) const { return peak_[static_cast<std::size_t>(kind)]; }
  /// Most that was held at one time, copies apart; and with them.
  std::int64_t peak_in_steps() const { return peak_in_steps_; }
  std::int64_t peak() const { return peak_together_; }
  /// Bytes by which `more` copies would pass the limit, where that counts them; else 0.
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

/// Bytes that somebody else's buffer takes, for as long as this lives.
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
