#pragma once
#include <cstddef>
#include <exception>
#include <string>

#include "core/parallel/comm.hpp"
#include "core/parallel/context.hpp"

namespace cambium {

/// Bytes that this process may still allocate: the minimum of the machine's free memory, what its control groups
/// (Linux, versions 1 and 2) leave, and its own limit of address space. Infinite if nothing is known.
double free_memory();

/// Message for a failed allocation (of the C++ library, Kokkos or Torch): requested size, if known, free memory, and
/// how to fix it. Empty for other errors.
std::string memory_refusal(const std::exception& error);

/// For a program that replaces `operator new`: records the failed request of this thread for memory_refusal().
void note_refused_bytes(std::size_t bytes) noexcept;

/// "3.2 GB": human-readable bytes, three digits.
std::string bytes_text(double bytes);

/// Collective. Reason why at least `bytes` per rank cannot be allocated: the ranks of a node share its free memory.
/// Empty if every node has room. `what` needs them ("4000000 atoms"), `remedy` is the fix ("give fewer cells").
std::string memory_problem(double bytes, const std::string& what, const std::string& remedy, const Comm& comm);

/// Collective. InputError of memory_problem(), before anything is allocated.
void require_memory(double bytes, const std::string& what, const std::string& remedy, const Comm& comm);

/// Collective. The same for memory required by a deck: only a warning in `cambium check`, which may run on another
/// machine, unless no existing node has that much (1 PB).
void require_memory(double bytes, const std::string& what, const std::string& remedy, Context& context);

}  // namespace cambium
