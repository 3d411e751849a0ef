#pragma once
#include <string_view>

namespace cambium {

/// A work that a result rests on; entries used by a run go into its cite.bib.
struct Citation {
  std::string_view key;
  std::string_view bibtex;
};

}  // namespace cambium
