#pragma once
#include <vector>

#include "core/plugin/potential.hpp"

namespace cambium {

/// Writes cite.bib (BibTeX) of the works this stage rests on into the run directory and says so. Rank 0 writes.
void write_citations(const std::vector<Citation>& citations, Context& context);

}  // namespace cambium
