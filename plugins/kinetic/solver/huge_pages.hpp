#pragma once
#include <cstddef>

namespace cambium::kinetic {

/// Advises the system to use pages of 2 MiB for memory that was not touched yet. A sweep enters a new page of 4 KiB
/// every other cell of 48 modes, and on a virtual machine a TLB miss costs as much as reading the page. No effect if
/// the system has no huge pages.
void ask_for_huge_pages(void* memory, std::size_t bytes);

}  // namespace cambium::kinetic
