#include "plugins/deepmd/datasets/deepmd_npy.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/deck/about_key.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::deepmd {

void DeepmdNpy::Params::describe(deck::Describe<Params>& d) {
  d("systems", &Params::systems,
    "folders with type.raw, type_map.raw and set.*/{coord, box, energy, force, virial, fparam, aparam}.npy; Å and eV")
      .example("[water/data_0, water/data_1]");
  d.check([](const Params& p) { return p.systems.empty() ? "systems names no folder" : ""; });
}

void DeepmdNpy::open(Context& context) {
  io::on_every_rank(context.comm, [&] {
    for (std::size_t s = 0; s < params_.systems.size(); ++s) {
      const std::string& folder = params_.systems[s];
      const std::string key = deck::child_path("systems", s);
      const DataSystem system = deck::about_key("deepmd_npy.systems", key, [&] { return DataSystem::load(folder); });
      if (system.type_map().empty())
        throw KeyError(
            "deepmd_npy.type_map", key,
            fmt::format("{}/type_map.raw: does not exist; write the species' symbols into it, in the order of the "
                        "numbers in type.raw",
                        folder));
      for (std::size_t k = 0; k < system.frames(); ++k) {
        const std::vector<int> types = deck::about_key(
            "deepmd_npy.species", key, [&] { return model_types(system, k, system.type_map(), folder); });
        samples_.add(make_sample(size(), system.type_map(), types, system.frame(k)));
      }
    }
  });
}

}  // namespace cambium::deepmd
