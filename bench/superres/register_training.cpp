// Benches that need LibTorch: a library that is loaded when benches are requested.
#include "bench/superres/bench_decoder.hpp"
#include "core/plugin/bench.hpp"
#include "core/plugin/registry.hpp"

namespace cambium::superres {

void register_benches(Registry& registry);

void register_benches(Registry& registry) { registry.add_bench(bench_decoder()); }

}  // namespace cambium::superres
