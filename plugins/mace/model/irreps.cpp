#include "plugins/mace/model/irreps.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::mace {

int size_of(const Irreps& irreps) { return irreps.empty() ? 0 : irreps.back().offset + irreps.back().size(); }

Irreps read_irreps(const ModelArchive& archive, const std::string& name) {
  constexpr int most_channels = 65536, highest_degree = 11;
  Irreps out;
  int offset = 0;
  for (const PickleValue* item : elements(archive.value(name))) {
    const auto& pair = elements(*item);
    const auto bad = [&] {
      return InputError(fmt::format("{}: '{}' is no list of irreducible representations", archive.path(), name));
    };
    if (pair.size() != 2) throw bad();
    const auto& degree = elements(*pair[1]);
    if (degree.size() != 2) throw bad();
    Irrep one{static_cast<int>(pair[0]->integer), static_cast<int>(degree[0]->integer), offset};
    if (one.mul < 0 || one.mul > most_channels || one.l < 0 || one.l > highest_degree) throw bad();
    if (one.mul == 0) continue;
    out.push_back(one);
    offset += one.size();
  }
  return out;
}

}  // namespace cambium::mace
