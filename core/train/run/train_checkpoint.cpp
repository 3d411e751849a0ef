#include "core/train/run/train_checkpoint.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/checkpoint.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/io/provenance.hpp"
#include "core/io/reading.hpp"
#include "core/io/table_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/kinds/keeps_numbers.hpp"

namespace cambium::train {

namespace {

constexpr int format = 1;

void write_buffer(io::File& file, const std::string& name, const FlatBuffer& buffer) {
  if (buffer.dtype() == DType::bf16) {
    // HDF5 has no type for them; two's complement of equal size keeps the bits.
    const auto bits = packed<std::uint16_t>(buffer);
    std::vector<std::int32_t> wide(bits.begin(), bits.end());
    file.write(name, wide).set_attribute("holds", "16 raw bits");
  } else {
    with_real(buffer.dtype(), [&]<class T>() { file.write(name, packed<T>(buffer)); });
  }
}

void read_buffer(const io::File& file, const std::string& name, FlatBuffer& buffer) {
  if (file.dataset(name).elements() != buffer.layout().parameters())
    throw InputError(fmt::format(
        "'{}' holds {} numbers in {}, but the deck's model has {} parameters; resume with the model that wrote it",
        file.file(), file.dataset(name).elements(), name, buffer.layout().parameters()));
  if (buffer.dtype() == DType::bf16) {
    const auto wide = file.read<std::vector<std::int32_t>>(name);
    std::vector<std::uint16_t> bits(wide.begin(), wide.end());
    unpack<std::uint16_t>(bits, buffer);
  } else {
    with_real(buffer.dtype(), [&]<class T>() { unpack<T>(file.read<std::vector<T>>(name), buffer); });
  }
}

std::vector<std::string> tensor_names(const FlatLayout& layout) {
  std::vector<std::string> names;
  for (const auto& tensor : layout.tensors()) names.push_back(tensor.info.name);
  return names;
}

void write_head(io::Group& head, const Progress& p, const CheckpointKey& key, std::int64_t ranks) {
  head.set_attribute("format", format);
  head.set_attribute("step", p.step);
  head.set_attribute("ranks", ranks);
  head.set_attribute("model", key.model);
  head.set_attribute("optimizer", key.optimizer);
  head.set_attribute("reduce", key.reduce);
  head.set_attribute("slices", key.slices);
  head.set_attribute("batch", key.batch);
  head.set_attribute("seed", static_cast<std::int64_t>(key.seed));
  head.set_attribute("best_step", p.best_step);
  head.set_attribute("best_metric", p.best_metric);
  head.set_attribute("without_improvement", p.without_improvement);
  head.set_attribute("first_loss", p.first_loss);
  head.set_attribute("loss_window", p.loss_window);
  head.set_attribute("window_steps", p.window_steps);
  head.set_attribute("target_figure", p.target_figure);
  head.set_attribute("target_best", p.target_best);
  head.set_attribute("target_step", p.target_step);
}

void copy_marks(const io::File& from, io::File& to) {
  if (!from.is_group("/tables")) return;
  for (const auto& name : from.group("/tables").list())
    for (const char* part : {"rows", "checksum"})
      to.create_group("/tables/" + name)
          .set_attribute(part, from.group("/tables/" + name).attribute<std::int64_t>(part));
}

template <class T>
void require_same(const io::Group& head, const char* name, const char* key, const T& deck) {
  const T file = head.attribute<T>(name);
  if (file != deck)
    throw InputError(fmt::format(
        "'{}' was written with {} {}, but the deck says {}; resume with the same, or begin a new run with start_from",
        head.file(), key, file, deck));
}

}  // namespace

void write_train_checkpoint(const std::string& path, const Progress& progress, const Snapshot& weights,
                            const CheckpointKey& key, Network& network, const Context& context,
                            std::span<const io::TableFile* const> tables, Tables* rows) {
  const std::string network_state = network.state();
  const KeepsNumbers* keeper = network.traits().numbers;
  const KeptNumbers kept = keeper ? keeper->kept() : KeptNumbers{};
  // Collective, as what is marked is on the root's disk only: in memory first.
  io::File marks = io::File::in_memory(path);
  for (const auto* table : tables) table->save_mark(marks);
  ServingRows serving(rows, context.comm);
  io::on_root(context.comm, [&] {
    const ServingRows::Root root(serving);
    io::write_sealed_h5(path, [&](io::File& file) {
      if (rows) rows->write(file, weights.has_best ? Tables::For::restart_with_best : Tables::For::restart);
      io::write_provenance(file, io::provenance_of(context));
      auto head = file.create_group("/train");
      write_head(head, progress, key, context.comm.size());
      head.write("network_state", network_state);
      std::vector<double> window;
      for (const auto& term : progress.window) window.insert(window.end(), {term.sum, term.count});
      head.write("window", window);
      if (!progress.best_errors.empty()) head.write("best_errors", progress.best_errors);
      if (!weights.grids.empty()) head.write("grids", weights.grids);
      copy_marks(marks, file);
      for (const auto& [name, numbers] : kept)
        if (!numbers.empty()) file.write("/kept/" + name, numbers);
      file.write("/tensors", tensor_names(weights.weights.layout()));
      write_buffer(file, "/weights", weights.weights);
      if (weights.average.bytes() > 0) write_buffer(file, "/average", weights.average);
      if (weights.has_best) write_buffer(file, "/best", weights.best);
      for (std::size_t k = 0; k < weights.states.size(); ++k)
        write_buffer(file, "/states/" + key.states[k].name, weights.states[k]);
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
  io::on_every_rank(context.comm, [&] {
    io::reading(path, [&] {
      network.restore(network_state_in(path));
      if (KeepsNumbers* keeper = network.traits().numbers) keeper->take(kept_in(path));
    });
  });
}

/// For the figure that the target is about; earlier versions forgot it.
static void read_target(const io::Group& head, Progress& p) {
  if (!head.has_attribute("target_figure")) return;
  p.target_figure = head.attribute<std::string>("target_figure");
  p.target_best = head.attribute<double>("target_best");
  p.target_step = head.attribute<std::int64_t>("target_step");
}

/// Earlier versions forgot them.
static void read_best_errors(const io::Group& head, Progress& p) {
  p.best_errors = head.exists("best_errors") ? head.read<std::vector<double>>("best_errors") : std::vector<double>{};
}

std::int64_t read_train_checkpoint(const std::string& path, Progress& p, Snapshot& w, const CheckpointKey& key) {
  const auto file = io::File::open(path);
  const auto head = file.group("/train");
  require_same(head, "model", "model", key.model);
  require_same(head, "optimizer", "optimizer", key.optimizer);
  require_same(head, "reduce", "reduce.mode", key.reduce);
  require_same(head, "slices", "reduce.slices", key.slices);
  // A session (batch 0) takes what its program brings, and may go on with what a stage trained.
  if (key.batch != 0) require_same(head, "batch", "batch", key.batch);
  require_same(head, "seed", "seed", static_cast<std::int64_t>(key.seed));
  if (file.read<std::vector<std::string>>("/tensors") != tensor_names(w.weights.layout()))
    throw InputError(fmt::format("'{}' holds tensors of another model; resume with the model that wrote it", path));
  p.step = head.attribute<std::int64_t>("step");
  if (p.step < 0)
    throw InputError(
        fmt::format("'{}' says step {}; the file is damaged or was changed, resume from another one", path, p.step));
  p.best_step = head.attribute<std::int64_t>("best_step");
  p.best_metric = head.attribute<double>("best_metric");
  read_best_errors(head, p);
  p.without_improvement = head.attribute<std::int64_t>("without_improvement");
  p.first_loss = head.attribute<double>("first_loss");
  p.loss_window = head.attribute<double>("loss_window");
  p.window_steps = head.attribute<std::int64_t>("window_steps");
  read_target(head, p);
  if (head.exists("grids") != !w.grids.empty())
    throw InputError(
        fmt::format("'{}' was written {} direct, but the deck says otherwise; resume with the same, or begin a new run "
                    "with start_from",
                    path, w.grids.empty() ? "with" : "without"));
  if (!w.grids.empty()) {
    const std::size_t grids = w.grids.size();
    w.grids = head.read<std::vector<double>>("grids");
    if (w.grids.size() != grids)
      throw InputError(fmt::format(
          "'{}' holds {} grids of direct weights, but the deck's model has {}; resume with the model that wrote it",
          path, w.grids.size(), grids));
  }
  const auto window = head.read<std::vector<double>>("window");
  for (std::size_t k = 0; k < p.window.size() && 2 * k + 1 < window.size(); ++k)
    p.window[k] = {window[2 * k], window[2 * k + 1]};
  read_buffer(file, "/weights", w.weights);
  if (w.average.bytes() > 0) {
    if (file.exists("/average"))
      read_buffer(file, "/average", w.average);
    else
      w.average.copy_from(w.weights);
  }
  w.has_best = p.best_step >= 0;
  if (w.has_best) read_buffer(file, "/best", w.best);
  for (std::size_t k = 0; k < w.states.size(); ++k) {
    const std::string name = "/states/" + key.states[k].name;
    if (!file.exists(name))
      throw InputError(
          fmt::format("'{}' has no optimizer state {}: the deck's optimizer has other settings than the one that wrote "
                      "it (momentum switched on?); resume with the same",
                      path, key.states[k].name));
    read_buffer(file, name, w.states[k]);
  }
  return head.attribute<std::int64_t>("ranks");
}

}  // namespace cambium::train
