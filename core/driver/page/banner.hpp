#pragma once
#include <string>

#include "core/parallel/context.hpp"

namespace cambium {

/// Version, back ends, ranks and threads, BLAS with its kernel set; warnings about what is slow here.
void print_banner(Context& context);
/// provenance.yaml in `directory`: versions, machine, command line and the resolved deck.
void write_provenance(const std::string& directory, Context& context);

}  // namespace cambium
