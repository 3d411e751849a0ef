#pragma once
#include <cstddef>
#include <exception>
#include <string>

#include "core/parallel/comm.hpp"
#include "core/parallel/context.hpp"

namespace cambium {

/// Bytes that this process may still take: the least of what the machine has left, what its control groups (Linux,
/// versions 1 and 2) leave, and its own limit of address space. Infinite where nothing is known.
double free_memory();

/// Message for an error that memory could not be had (of the C++ library, Kokkos or Torch): what was asked for, where
/// that is known, what is left, what to do. Empty for other errors.
std::string memory_refusal(const std::exception& error);

/// For a program that replaces `operator new`: what this thread asked for in vain, for memory_refusal().
void note_refused_bytes(std::size_t bytes) noexcept;

/// "3.2 GB": bytes for people, three digits.
std::string bytes_text(double bytes);

/// Collective. Why `bytes`, which this rank is about to take at least, cannot be had: the ranks of a node share what is
/// free there. Empty when every node has room. `what` takes them ("4000000 atoms"), `remedy` says what to change ("give
/// fewer cells").
std::string memory_problem(double bytes, const std::string& what, const std::string& remedy, const Comm& comm);

/// Collective. InputError of memory_problem(), so that nothing is taken that cannot be had.
void require_memory(double bytes, const std::string& what, const std::string& remedy, const Comm& comm);

/// Collective. The same for what a deck asks for: a warning in `cambium check`, which may run on another machine than
/// the run, unless no machine has a node with so much (1 PB).
void require_memory(double bytes, const std::string& what, const std::string& remedy, Context& context);

}  // namespace cambium
