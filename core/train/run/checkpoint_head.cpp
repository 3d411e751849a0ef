#include "core/train/run/checkpoint_head.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/base/error.hpp"
#include "core/io/provenance.hpp"
#include "core/io/table_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/kinds/keeps_numbers.hpp"

namespace cambium::train {

namespace {

constexpr int format = 1;

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
  head.set_attribute("permutation", key.permutation);
  head.set_attribute("best_step", p.best_step);
  head.set_attribute("best_metric", p.best_metric);
  head.set_attribute("without_improvement", p.without_improvement);
  head.set_attribute("first_loss", p.first_loss);
  head.set_attribute("loss_window", p.loss_window);
  head.set_attribute("window_steps", p.window_steps);
  head.set_attribute("curve_loss", p.curve_loss);
  head.set_attribute("curve_steps", p.curve_steps);
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
void require_same(const io::Group& head, const char* name, const char* key, const T& deck,
                  const std::optional<T>& absent = {}) {
  const T file = absent && !head.has_attribute(name) ? *absent : head.attribute<T>(name);
  if (file != deck)
    throw InputError(fmt::format(
        "'{}' was written with {} {}, but the deck has {}; resume with the same, or begin a new run with start_from",
        head.file(), key, file, deck));
}

/// On rank 0: writes everything except rows of tables.
void fill(io::File& file, const CheckpointParts& parts, const HeadOfWeights& weights,
          const std::string& network_state) {
  const Progress& progress = parts.progress;
  io::write_provenance(file, io::provenance_of(parts.context));
  auto head = file.create_group("/train");
  write_head(head, progress, parts.key, parts.context.comm.size());
  head.write("network_state", network_state);
  std::vector<double> window;
  for (const auto& term : progress.window) window.insert(window.end(), {term.sum, term.count});
  head.write("window", window);
  if (!progress.best_errors.empty()) head.write("best_errors", progress.best_errors);
  for (const auto& [name, numbers] : progress.kept)
    if (!numbers.empty()) head.write("kept_" + name, numbers);
  if (!weights.grids.empty()) head.write("grids", weights.grids);
  file.write("/tensors", tensor_names(weights.layout));
}

}  // namespace

void with_head(const CheckpointParts& parts, const HeadOfWeights& weights,
               const std::function<void(const FillFile& fill)>& write) {
  const Comm& comm = parts.context.comm;
  const std::string network_state = parts.network.state();
  const KeepsNumbers* keeper = parts.network.traits().numbers;
  const KeptNumbers kept = keeper ? keeper->kept() : KeptNumbers{};
  // Collective, since the marked files are only on rank 0's disk; kept in memory first.
  io::File marks = io::File::in_memory("marks");
  for (const auto* table : parts.tables) table->save_mark(marks);
  ServingRows serving(parts.rows, comm);
  io::on_root(comm, [&] {
    const ServingRows::Root root(serving);
    write([&](io::File& file) {
      if (parts.rows) parts.rows->write(file, weights.has_best ? Tables::For::restart_with_best : Tables::For::restart);
      fill(file, parts, weights, network_state);
      copy_marks(marks, file);
      for (const auto& [name, numbers] : kept)
        if (!numbers.empty()) file.write("/kept/" + name, numbers);
    });
  });
}

/// Reads the metric of the target; absent in files of earlier versions.
static void read_target(const io::Group& head, Progress& p) {
  if (!head.has_attribute("target_figure")) return;
  p.target_figure = head.attribute<std::string>("target_figure");
  p.target_best = head.attribute<double>("target_best");
  p.target_step = head.attribute<std::int64_t>("target_step");
}

/// Absent in files of earlier versions.
static void read_best_errors(const io::Group& head, Progress& p) {
  p.best_errors = head.exists("best_errors") ? head.read<std::vector<double>>("best_errors") : std::vector<double>{};
}

/// Absent in files of earlier versions.
static void read_kept(const io::Group& head, Progress& p) {
  if (head.has_attribute("curve_steps")) {
    p.curve_loss = head.attribute<double>("curve_loss");
    p.curve_steps = head.attribute<std::int64_t>("curve_steps");
  }
  p.kept.clear();
  for (const char* name : {"learning_rate", "optimizer", "losses"})
    if (const std::string array = std::string("kept_") + name; head.exists(array))
      p.kept[name] = head.read<std::vector<double>>(array);
}

std::int64_t read_head(const io::File& file, Progress& p, const FlatLayout& layout, const CheckpointKey& key) {
  const std::string& path = file.file();
  const auto head = file.group("/train");
  require_same(head, "model", "model", key.model);
  require_same(head, "optimizer", "optimizer", key.optimizer);
  require_same(head, "reduce", "reduce.mode", key.reduce);
  require_same(head, "slices", "reduce.micro_batches", key.slices);
  // A session (batch 0) has batches of any size, and may continue the training of a stage.
  if (key.batch != 0) {
    require_same(head, "batch", "batch", key.batch);
    // Absent in files of earlier versions, whose orders were stored.
    require_same<std::string>(head, "permutation", "permutation", key.permutation, "stored");
  }
  require_same(head, "seed", "seed", static_cast<std::int64_t>(key.seed));
  if (file.read<std::vector<std::string>>("/tensors") != tensor_names(layout))
    throw InputError(fmt::format("'{}' holds tensors of another model; resume with the model that wrote it", path));
  p.step = head.attribute<std::int64_t>("step");
  if (p.step < 0)
    throw InputError(
        fmt::format("'{}' has step {}; the file is damaged or was changed, resume from another one", path, p.step));
  p.best_step = head.attribute<std::int64_t>("best_step");
  p.best_metric = head.attribute<double>("best_metric");
  read_best_errors(head, p);
  p.without_improvement = head.attribute<std::int64_t>("without_improvement");
  p.first_loss = head.attribute<double>("first_loss");
  p.loss_window = head.attribute<double>("loss_window");
  p.window_steps = head.attribute<std::int64_t>("window_steps");
  read_target(head, p);
  read_kept(head, p);
  const auto window = head.read<std::vector<double>>("window");
  for (std::size_t k = 0; k < p.window.size() && 2 * k + 1 < window.size(); ++k)
    p.window[k] = {window[2 * k], window[2 * k + 1]};
  return head.attribute<std::int64_t>("ranks");
}

std::vector<double> read_grids(const io::File& file, std::size_t grids) {
  const auto head = file.group("/train");
  if (head.exists("grids") != (grids > 0))
    throw InputError(
        fmt::format("'{}' was written {} quantized_training, unlike in the deck; resume with the same, or begin a new "
                    "run with start_from",
                    file.file(), grids == 0 ? "with" : "without"));
  if (grids == 0) return {};
  auto out = head.read<std::vector<double>>("grids");
  if (out.size() != grids)
    throw InputError(fmt::format(
        "'{}' holds {} grids of quantised weights, but the deck's model has {}; resume with the model that wrote it",
        file.file(), out.size(), grids));
  return out;
}

}  // namespace cambium::train
