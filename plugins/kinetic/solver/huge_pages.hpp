#pragma once
#include <cstddef>

namespace cambium::kinetic {

/// Tells the system that memory which was not touched yet may come in pages of 2 MiB. A sweep meets a new page of 4 KiB
/// every other cell of 48 modes, and on a virtual machine finding one costs as much as reading it. Nothing happens
/// where the system has no such pages.
void ask_for_huge_pages(void* memory, std::size_t bytes);

}  // namespace cambium::kinetic
