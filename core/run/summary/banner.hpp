#pragma once
#include <string>

#include "core/parallel/context.hpp"

namespace cambium {

/// Version, back ends, ranks and threads, BLAS with its kernel set; warnings about slow settings.
void print_banner(Context& context);
/// True if the BLAS uses more threads than a rank among others should have. OpenMP's may equal those of kernels: they
/// are the same threads.
bool too_many_blas_threads(int threads, bool on_openmp, int of_kernels, int ranks);
/// provenance.yaml in `directory`: versions, machine, command line and the resolved deck.
void write_provenance(const std::string& directory, Context& context);

}  // namespace cambium
