#pragma once
#include <vector>

#include "core/base/citation.hpp"
#include "core/parallel/context.hpp"

namespace cambium {

/// Collective: writes cite.bib (BibTeX) with the publications used by this stage into the run directory and logs it.
/// The list of rank 0 counts.
void write_citations(const std::vector<Citation>& citations, Context& context);

}  // namespace cambium
