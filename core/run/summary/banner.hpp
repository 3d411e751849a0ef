#pragma once
#include <string>

#include "core/parallel/context.hpp"

namespace cambium {

/// Version, back ends, ranks and threads, BLAS with its kernel set; warnings about slow settings.
void print_banner(Context& context);
/// True if threads of the BLAS are more than a rank among others should have. Those of OpenMP may be as many as kernels
/// have: they are the same ones.
bool too_many_blas_threads(int threads, bool on_openmp, int of_kernels, int ranks);
/// provenance.yaml in `directory`: versions, machine, command line and the resolved deck.
void write_provenance(const std::string& directory, Context& context);

}  // namespace cambium
