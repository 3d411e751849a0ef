#include "plugins/deepmd/datasets/deepmd_npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.hpp"
#include "core/deck/about_key.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/data/packed_sample.hpp"
#include "plugins/deepmd/data/system.hpp"
#include "plugins/deepmd/data/system_files.hpp"

namespace cambium::deepmd {

void DeepmdNpy::Params::describe(deck::Describe<Params>& d) {
  d("systems", &Params::systems,
    "folders with type.raw, type_map.raw and set.*/{coord, box, energy, force, virial, fparam, aparam}.npy, or HDF5 "
    "groups of the same names (data.hdf5#/water); a folder or file without type.raw gives all systems in it; Å and eV")
      .example("[water/data_0, water/data_1]");
  d("cache", &Params::cache,
    "largest size in MiB of a data set that is held in memory; 0: frames are read when they are needed, again in every "
    "epoch (loader buffered plans these reads)")
      .at_least(0)
      .def(256);
  d.check([](const Params& p) { return p.systems.empty() ? "systems names no folder" : ""; });
}

void DeepmdNpy::open(Context& context) {
  io::on_every_rank(context.comm, [&] {
    SeenSystems seen;
    for (std::size_t s = 0; s < params_.systems.size(); ++s) {
      const std::string key = deck::child_path("systems", s);
      for (const auto& path :
           deck::about_key("deepmd_npy.systems", key, [&] { return systems_at(params_.systems[s]); })) {
        if (const auto before = seen.before(path))
          context.log.warn(
              fmt::format("{}: {} is {}, which is named before: its frames count once more", key, path, *before));
        add(path, key);
      }
    }
    if (bytes_ <= params_.cache * 1048576.0) hold_all();
    close_some(0);
  });
}

/// Bytes of the largest sample of a system, as make_sample() makes it.
static std::int64_t packed_bytes_of(const SystemFrames& system) {
  const auto atoms = std::ssize(system.types());
  std::size_t text = 0;
  for (const std::string& symbol : system.type_map()) text += symbol.size() + 1;
  const auto numbers = [](const char* name, int rank, std::int64_t values) {
    return train::packed_field_bytes(std::string_view(name).size(), rank, 8 * values);
  };
  return train::packed_head_bytes() +
         train::packed_field_bytes(std::string_view("species").size(), 1, static_cast<std::int64_t>(text)) +
         train::packed_field_bytes(std::string_view("type").size(), 1, 4 * atoms) + numbers("coord", 2, 3 * atoms) +
         numbers("force", 2, 3 * atoms) + numbers("box", 2, 9) + numbers("axes", 2, 9) + numbers("virial", 2, 9) +
         numbers("energy", 1, 1) + numbers("fparam", 1, system.most_fparam()) +
         numbers("aparam", 2, system.most_aparam());
}

void DeepmdNpy::add(const std::string& path, const std::string& key) {
  SystemFrames system = deck::about_key("deepmd_npy.systems", key, [&] { return SystemFrames(path); });
  if (system.type_map().empty())
    throw KeyError(
        "deepmd_npy.type_map", key,
        fmt::format("{}/type_map.raw: does not exist; write the species' symbols into it, in the order of the "
                    "numbers in type.raw",
                    path));
  if (system.frames() == 0) return;
  std::vector<int> types;
  if (!system.mixed())
    types = deck::about_key("deepmd_npy.species", key, [&] {
      return model_types(system.types(), system.type_map(), path, system.type_map(), path);
    });
  const std::int64_t bytes = packed_bytes_of(system), first = size_;
  size_ += system.frames();
  most_packed_ = std::max(most_packed_, bytes);
  bytes_ += static_cast<double>(bytes) * static_cast<double>(system.frames());
  systems_.push_back({std::move(system), first, key, std::move(types)});
  close_some(64);
}

void DeepmdNpy::hold_all() {
  std::vector<train::SamplePtr> samples;
  for (const System& system : systems_) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(system.frames.frames()));
    std::iota(ids.begin(), ids.end(), system.first);
    deck::about_key("deepmd_npy.systems", system.key, [&] { read_run(ids, samples); });
    close_some(64);
  }
  for (auto& sample : samples) held_.add(std::move(sample));
}

std::size_t DeepmdNpy::system_of(std::int64_t id) const {
  const auto after = std::upper_bound(systems_.begin(), systems_.end(), id,
                                      [](std::int64_t i, const System& system) { return i < system.first; });
  return static_cast<std::size_t>(after - systems_.begin()) - 1;
}

std::pair<std::int64_t, std::int64_t> DeepmdNpy::chunk_of(std::int64_t id) const {
  if (held_.size() > 0) return {id, id + 1};
  const System& system = systems_[system_of(id)];
  const auto [begin, end] = system.frames.chunk_of(id - system.first);
  return {system.first + begin, system.first + end};
}

/// Reads a run of frames of one system at once and appends the requested ones.
void DeepmdNpy::read_run(std::span<const std::int64_t> ids, std::vector<train::SamplePtr>& out) {
  System& system = systems_[system_of(ids.front())];
  const std::int64_t before = system.frames.bytes_read();
  const auto frames = system.frames.read(ids.front() - system.first, ids.back() - ids.front() + 1);
  reading_->bytes += system.frames.bytes_read() - before;
  const auto& type_map = system.frames.type_map();
  for (const std::int64_t id : ids) {
    const LabelledFrame& frame = frames[static_cast<std::size_t>(id - ids.front())];
    const auto& own = frame.types.empty() ? system.frames.types() : frame.types;  // of mixed systems
    const auto types =
        system.types.empty() ? model_types(own, type_map, system.frames.folder(), type_map, "") : system.types;
    out.push_back(make_sample(id, type_map, types, frame));
  }
}

/// Closes the files of all systems, if more than `kept` are open.
void DeepmdNpy::close_some(std::size_t kept) {
  const auto open = std::count_if(systems_.begin(), systems_.end(), [](const System& s) { return s.frames.is_open(); });
  if (open <= static_cast<std::ptrdiff_t>(kept)) return;
  for (System& system : systems_) system.frames.close();
}

std::vector<train::SamplePtr> DeepmdNpy::read(std::span<const std::int64_t> ids) {
  if (held_.size() > 0) return held_.at(ids);
  constexpr double largest_read = 64 * 1048576.0;  // bytes, or one chunk
  const std::lock_guard lock(reading_->mutex);
  std::vector<train::SamplePtr> out;
  for (std::size_t begin = 0, end; begin < ids.size(); begin = end) {
    const System& system = systems_[system_of(ids[begin])];
    const std::int64_t limit = system.first + system.frames.frames();
    const auto bytes = static_cast<double>(packed_bytes_of(system.frames));
    for (end = begin + 1; end < ids.size(); ++end) {
      const bool chunk = ids[end] > ids[end - 1] && ids[end] < chunk_of(ids[end - 1]).second;
      const bool near = chunk || ids[end] == ids[end - 1] + 1;
      if (!near || ids[end] >= limit) break;
      if (!chunk && static_cast<double>(ids[end] - ids[begin] + 1) * bytes > largest_read) break;
    }
    read_run(ids.subspan(begin, end - begin), out);
    close_some(64);
  }
  return out;
}

}  // namespace cambium::deepmd
