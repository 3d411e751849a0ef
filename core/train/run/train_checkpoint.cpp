#include "core/train/run/train_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/base/error.hpp"
#include "core/io/checkpoint.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/io/reading.hpp"
#include "core/io/share_files.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/kinds/keeps_numbers.hpp"
#include "core/train/weights/whole_pieces.hpp"

namespace cambium::train {

static void write_buffer(io::File& file, const std::string& name, const FlatBuffer& buffer) {
  if (buffer.dtype() == DType::bf16) {
    // HDF5 has no bfloat16 type; two's complement of the same size preserves the bits.
    const auto bits = packed<std::uint16_t>(buffer);
    std::vector<std::int32_t> wide(bits.begin(), bits.end());
    file.write(name, wide).set_attribute("holds", "16 raw bits");
  } else {
    with_real(buffer.dtype(), [&]<class T>() { file.write(name, packed<T>(buffer)); });
  }
}

void write_train_checkpoint(const std::string& path, const Snapshot& weights, const CheckpointParts& parts) {
  with_head(parts, {weights.weights.layout(), weights.grids, weights.has_best}, [&](const FillFile& fill) {
    io::write_sealed_h5(path, [&](io::File& file) {
      fill(file);
      write_buffer(file, "/weights", weights.weights);
      if (weights.average.bytes() > 0) write_buffer(file, "/average", weights.average);
      if (weights.has_best) write_buffer(file, "/best", weights.best);
      for (std::size_t k = 0; k < weights.states.size(); ++k)
        write_buffer(file, "/states/" + parts.key.states[k].name, weights.states[k]);
    });
  });
}

std::string network_state_in(const std::string& path) {
  const auto file = io::File::open(path);
  if (!file.exists("/train"))
    throw InputError(fmt::format(
        "'{}' is no checkpoint of a training: it has no /train; give a restart.*.h5, or the file that a session saved",
        path));
  return file.read<std::string>("/train/network_state");
}

static KeptNumbers kept_in(const std::string& path) {
  const auto file = io::File::open(path);
  KeptNumbers out;
  if (!file.is_group("/kept")) return out;
  for (const auto& name : file.group("/kept").list()) out[name] = file.read<std::vector<double>>("/kept/" + name);
  return out;
}

void restore_network(Network& network, const std::string& path, const Context& context) {
  if (!io::require_sound(path, context.comm) && std::filesystem::exists(path))
    context.log.info(fmt::format("{} has no checksum: an earlier version wrote it, or it was changed since", path));
  // A resumed stage has verified them when it selected the file.
  if (!context.resume && std::filesystem::exists(path))
    if (const auto why = io::share_damage(path, context.comm); !why.empty())
      throw InputError(fmt::format("'{}' cannot be read: {}; put back a copy of it, or take another file", path, why));
  io::on_every_rank(context.comm, [&] {
    io::reading(path, [&] {
      network.restore(network_state_in(path));
      if (KeepsNumbers* keeper = network.traits().numbers) keeper->take(kept_in(path));
    });
  });
}

namespace {

/// Arrays of a checkpoint, in the file itself or in per-rank files.
class StoredArrays {
 public:
  StoredArrays(const io::File& file, std::int64_t parameters) : file_(file), parameters_(parameters) {
    if (io::ShareReader::lists(file)) shares_.emplace(file);
    if (shares_ && shares_->elements() != parameters) refuse("its shards", shares_->elements());
  }
  bool holds(const std::string& name) const { return shares_ ? shares_->holds(name) : file_.exists(name); }
  void read(const std::string& name, DType dtype, io::Extent extent, std::byte* to) {
    if (shares_) return shares_->read(name, extent, dtype, to);
    if (name != name_) {
      set_.emplace(file_.dataset(name));
      name_ = name;
      if (set_->elements() != parameters_) refuse(name, set_->elements());
    }
    const std::int64_t start[] = {extent.first};
    if (dtype == DType::bf16) {
      std::vector<std::int32_t> wide(static_cast<std::size_t>(extent.count));
      set_->read_block(start, into(wide.data(), extent.count));
      std::copy(wide.begin(), wide.end(), reinterpret_cast<std::uint16_t*>(to));
    } else {
      with_real(dtype, [&]<class T>() { set_->read_block(start, into(reinterpret_cast<T*>(to), extent.count)); });
    }
  }

 private:
  template <class T>
  static TensorRef into(T* to, std::int64_t count) {
    TensorRef out = io::tensor_of(to, {count});
    out.is_const = false;
    return out;
  }
  [[noreturn]] void refuse(const std::string& name, std::int64_t elements) const {
    throw InputError(fmt::format(
        "'{}' holds {} values in {}, but the deck's model has {} parameters; resume with the model that wrote it",
        file_.file(), elements, name, parameters_));
  }
  const io::File& file_;
  std::int64_t parameters_;
  std::optional<io::ShareReader> shares_;
  std::optional<io::Dataset> set_;
  std::string name_;  ///< of set_
};

}  // namespace

std::int64_t read_train_checkpoint(const std::string& path, Progress& progress, Weights& weights,
                                   const CheckpointKey& key) {
  const auto file = io::File::open(path);
  const auto ranks = read_head(file, progress, weights.layout(), key);
  StoredArrays stored(file, weights.layout().parameters());
  for (const auto& state : key.states)
    if (!stored.holds("/states/" + state.name))
      throw InputError(
          fmt::format("'{}' has no optimizer state {}: the deck's optimizer has other settings than the one that wrote "
                      "it (momentum switched on?); resume with the same",
                      path, state.name));
  const bool best = progress.best_step >= 0, average = stored.holds("/average");
  const auto get = [&](const io::SharedArray& array, io::Extent extent, std::byte* to) {
    stored.read(array.name == "/average" && !average ? "/weights" : array.name, array.dtype, extent, to);
  };
  if (InPieces* pieces = weights.in_pieces()) {
    pieces->read(best, read_grids(file, pieces->steps().size()), get);
    return ranks;
  }
  weights.load([&](Snapshot& whole) {
    const auto grids = read_grids(file, whole.grids.size());
    WholePieces(whole, key.states, 0, 1).read(best, grids, get);
  });
  return ranks;
}

}  // namespace cambium::train
