#include "plugins/deepmd/datasets/deepmd_npy.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/deck/about_key.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::deepmd {

void DeepmdNpy::Params::describe(deck::Describe<Params>& d) {
  d("systems", &Params::systems,
    "folders with type.raw, type_map.raw and set.*/{coord, box, energy, force, virial, fparam, aparam}.npy, or HDF5 "
    "groups of the same names (data.hdf5#/water); a folder or file without type.raw gives all systems in it; Å and eV")
      .example("[water/data_0, water/data_1]");
  d.check([](const Params& p) { return p.systems.empty() ? "systems names no folder" : ""; });
}

void DeepmdNpy::open(Context& context) {
  io::on_every_rank(context.comm, [&] {
    for (std::size_t s = 0; s < params_.systems.size(); ++s) {
      const std::string key = deck::child_path("systems", s);
      for (const auto& path :
           deck::about_key("deepmd_npy.systems", key, [&] { return systems_at(params_.systems[s]); }))
        add(path, key);
    }
  });
}

void DeepmdNpy::add(const std::string& path, const std::string& key) {
  const DataSystem system = deck::about_key("deepmd_npy.systems", key, [&] { return DataSystem::load(path); });
  if (system.type_map().empty())
    throw KeyError(
        "deepmd_npy.type_map", key,
        fmt::format("{}/type_map.raw: does not exist; write the species' symbols into it, in the order of the "
                    "numbers in type.raw",
                    path));
  for (std::size_t k = 0; k < system.frames(); ++k) {
    const std::vector<int> types =
        deck::about_key("deepmd_npy.species", key, [&] { return model_types(system, k, system.type_map(), path); });
    samples_.add(make_sample(size(), system.type_map(), types, system.frame(k)));
  }
}

}  // namespace cambium::deepmd
