#include "plugins/kinetic/solver/huge_pages.hpp"

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace cambium::kinetic {

void ask_for_huge_pages(void* memory, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t huge = 2 << 20;
  const auto first = (reinterpret_cast<std::uintptr_t>(memory) + huge - 1) / huge * huge;
  const auto last = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / huge * huge;
  if (first < last)
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // a wish: its failure changes nothing
#else
  (void)memory, (void)bytes;
#endif
}

}  // namespace cambium::kinetic
