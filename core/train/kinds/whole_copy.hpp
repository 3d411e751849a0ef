#pragma once
#include "core/train/kinds/buffer.hpp"
#include "core/train/kinds/memory.hpp"

namespace cambium::train {

/// Values of a complete model, counted as a copy during its lifetime.
struct WholeCopy {
  FlatBuffer numbers;
  Counted counted;

  /// Zeros. InputError if the ledger has no room for them.
  static WholeCopy of(const FlatLayout& layout, DType dtype, MemoryLedger& ledger) {
    Counted counted(ledger, Held::copies, layout.size() * size_of(dtype));
    return {FlatBuffer(layout, dtype), std::move(counted)};
  }
};

}  // namespace cambium::train
