#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::deepmd {

/// `cambium bench few_bits`: energies and gradients of energy networks in float32, as stored and by tables of few bits,
/// on this rank. Widths of the copper model that ships (755 inputs, 120-120-120) and of the water example (1480,
/// 240-240-240), random weights. For each width, number of atoms and bits speedup_WIDTH_ATOMS_BITS (time in full over
/// time by tables, turn about in one loop; above 1 tables are faster), full_us_WIDTH_ATOMS and kB_WIDTH, kB_WIDTH_BITS
/// of all weights. check: gradients against those of the decoded weights.
Bench bench_few_bits();

}  // namespace cambium::deepmd
