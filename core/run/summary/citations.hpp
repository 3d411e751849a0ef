#pragma once
#include <vector>

#include "core/base/citation.hpp"
#include "core/parallel/context.hpp"

namespace cambium {

/// Collective: writes cite.bib (BibTeX) of the works this stage rests on into the run directory and says so. The list
/// of rank 0 counts.
void write_citations(const std::vector<Citation>& citations, Context& context);

}  // namespace cambium
