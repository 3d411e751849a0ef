// Reads the systems that standard input names, folders and groups of HDF5 files, and writes their content, one JSON
// object a line, for test_layouts.py.
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"
#include "plugins/deepmd/data/system.hpp"

using namespace cambium;
using nlohmann::json;

/// InputError if a frame that is read alone differs from that of a system that is read as a whole.
static void read_alone(const deepmd::DataSystem& system) {
  deepmd::SystemFrames stored(system.folder());
  for (auto k = static_cast<std::int64_t>(system.frames()); k-- > 0;) {
    const auto frames = stored.read(k, 1);
    const deepmd::LabelledFrame &a = frames.at(0), &b = system.frame(static_cast<std::size_t>(k));
    const bool boxes =
        a.box.has_value() == b.box.has_value() && (!a.box || std::memcmp(a.box->h, b.box->h, sizeof a.box->h) == 0);
    if (frames.size() != 1 || a.x != b.x || !boxes || a.energy != b.energy || a.force != b.force ||
        a.virial != b.virial || a.fparam != b.fparam || a.aparam != b.aparam || a.types != b.types)
      throw InputError("frame " + std::to_string(k) + " differs when it is read alone");
  }
}

static json content_of(const std::string& folder) {
  const auto system = deepmd::DataSystem::load(folder);
  read_alone(system);
  json frames = json::array();
  for (std::size_t k = 0; k < system.frames(); ++k) {
    const auto& f = system.frame(k);
    json out;
    for (const int type : system.types(k)) {
      const auto t = static_cast<std::size_t>(type);
      out["species"].push_back(t < system.type_map().size() ? system.type_map()[t] : std::to_string(type));
    }
    for (const auto& x : f.x) out["coord"].push_back(f.axes.vector(x.data()));
    for (const auto& x : f.force) out["force"].push_back(f.axes.vector(x.data()));
    if (f.box) out["box"] = f.axes.cell(*f.box);
    if (f.energy) out["energy"] = {*f.energy};
    if (!f.virial.empty()) out["virial"] = f.axes.tensor(f.virial.data());
    if (!f.fparam.empty()) out["fparam"] = f.fparam;
    if (!f.aparam.empty()) out["aparam"] = f.aparam;
    frames.push_back(out);
  }
  return frames;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);  // HDF5 files are probed before they are opened
  for (std::string folder; std::getline(std::cin, folder);) {
    try {
      std::cout << content_of(folder).dump() << '\n';
    } catch (const InputError& error) {
      std::cout << json{{"error", error.what()}}.dump() << '\n';
    }
  }
  MPI_Finalize();
  return 0;
}
