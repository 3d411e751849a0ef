#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::md {

/// `cambium bench pair`: time per listed pair of Lennard-Jones, of the same formula in a form as `cambium new-plugin`
/// makes it, and of Morse's form, with the same atoms and the same list, and the ratios to the first.
Bench bench_pair();

}  // namespace cambium::md
