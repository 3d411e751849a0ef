#pragma once
#include <functional>

#include "core/parallel/comm.hpp"

namespace cambium::io {

/// Collective: runs `action` on rank 0; when it throws InputError, every rank throws the same one, so that no rank
/// waits for another that has given up.
void on_root(const Comm& comm, const std::function<void()>& action);

/// Collective: runs `action` on every rank; when it throws InputError somewhere, every rank throws that of the lowest
/// rank. The action itself must not communicate.
void on_every_rank(const Comm& comm, const std::function<void()>& action);

}  // namespace cambium::io
