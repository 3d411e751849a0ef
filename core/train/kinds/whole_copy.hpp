#pragma once
#include "core/train/kinds/buffer.hpp"
#include "core/train/kinds/memory.hpp"

namespace cambium::train {

/// A whole model's numbers, counted as a copy while it lives.
struct WholeCopy {
  FlatBuffer numbers;
  Counted counted;

  /// Zeros. InputError when the ledger has no room for them.
  static WholeCopy of(const FlatLayout& layout, DType dtype, MemoryLedger& ledger) {
    Counted counted(ledger, Held::copies, layout.size() * size_of(dtype));
    return {FlatBuffer(layout, dtype), std::move(counted)};
  }
};

}  // namespace cambium::train
