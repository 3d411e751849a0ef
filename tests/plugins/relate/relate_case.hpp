#pragma once
// Networks of this plugin with tables on one rank, set and read row by row; and stages run from text.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"
#include "core/run/deck_file.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/register.hpp"
#include "core/train/tables/fetch_rows.hpp"
#include "core/train/tables/tables.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/relate/datasets/record_set.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

namespace cambium::relate {

void register_types(Registry& registry);

/// A place to make types and run stages, on the ranks of a communicator; files lie in a folder `name`.
struct Place {
  Comm& comm;
  Log log{nullptr, false};
  Timing timing;
  Registry registry;
  Context context{comm, log, timing};

  Place(Comm& ranks, const std::string& folder) : comm(ranks) {
    train::register_training(registry);
    registry.set_plugin("relate");
    register_types(registry);
    context.registry = &registry;
    context.run_directory = folder;
    if (comm.root()) std::filesystem::create_directories(folder);
    comm.barrier();
  }
  std::unique_ptr<Task> run(const std::string& task, const std::string& yaml) {
    auto out = registry.make<Task>(task, deck::parse(yaml, "test"), context);
    REQUIRE(out->run(context) == Task::Outcome::done);
    comm.barrier();
    return out;
  }
};

/// One network in float64 with its weights, gradients and tables, on one rank.
struct NetworkCase {
  Comm comm{MPI_COMM_SELF};
  Log log{nullptr, false};
  Timing timing;
  Context context{comm, log, timing};
  train::Network& network;
  train::UsesTables& user;
  train::FlatLayout layout;
  train::FlatBuffer weights, gradients;
  std::unique_ptr<train::Tables> tables;

  explicit NetworkCase(train::Network& net)
      : network(net), user(dynamic_cast<train::UsesTables&>(net)), layout(net.parameters(), 1'000'000),
        weights(layout, DType::f64), gradients(layout, DType::f64) {
    train::TableKeys keys;
    keys.optimizer = train::TableKeys::Rule::sgd;
    tables = train::make_tables(user.tables(), keys, DType::f64, context);
  }
  /// All rows of a table.
  std::vector<double> rows(std::size_t table) {
    const auto infos = user.tables();
    std::vector<train::Bags> bags(infos.size());
    for (std::int64_t r = 0; r < infos[table].rows; ++r)
      for (std::size_t t = 0; t < infos.size(); ++t) {
        const std::int32_t one[] = {static_cast<std::int32_t>(r)};
        bags[t].add(t == table ? std::span<const std::int32_t>(one) : std::span<const std::int32_t>());
      }
    tables->look_up(bags);
    const TensorRef all = tables->looked_up().pooled(static_cast<int>(table));
    const auto* begin = static_cast<const double*>(all.data);
    return {begin, begin + all.elements()};
  }
  void set_rows(const std::vector<std::vector<double>>& values) {
    auto file = io::File::in_memory("rows.h5");
    const auto infos = user.tables();
    for (std::size_t t = 0; t < infos.size(); ++t)
      file.write("/rows/" + infos[t].name + "/weights",
                 io::tensor_of(values[t].data(), {infos[t].rows, infos[t].width}));
    tables->read(file, train::Tables::For::model);
  }
  /// Sum of the losses of samples; gradients of weights lie in `gradients`, those of rows wait for tables->step().
  double gradient(const std::vector<train::SamplePtr>& samples) {
    gradients.zero();
    const std::span<const train::SamplePtr> slice[] = {samples};
    const std::int64_t number[] = {0};
    train::fetch_rows(network, tables.get(), slice, number, comm);
    user.use_rows(&tables->rows(0));
    std::vector<train::TermSum> terms(network.terms().size());
    const std::vector<double> one{1.0};
    network.gradient(samples, weights.views(), one, gradients.views(), terms, [](int) {});
    tables->send_back();
    return terms[0].sum;
  }
};

/// Records as a data set.
struct Held : train::Dataset {
  RecordPtr records;
  explicit Held(RecordPtr r) : records(std::move(r)) {}
  void open(Context&) override {}
  std::int64_t size() const override { return records->size(); }
  std::vector<train::FieldInfo> fields() const override { return fields_of(*records); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override {
    std::vector<train::SamplePtr> out;
    for (const auto id : ids) out.push_back(sample_of(records, id));
    return out;
  }
};

inline std::vector<train::SamplePtr> samples_of(const RecordPtr& records) {
  std::vector<train::SamplePtr> out;
  for (std::int64_t k = 0; k < records->size(); ++k) out.push_back(sample_of(records, k));
  return out;
}

/// A file of CAMBIUM_DATA/relate; empty, with a reason printed, where there is none.
inline std::string relate_data(const std::string& name) {
  const char* data = std::getenv("CAMBIUM_DATA");
  const std::string path = data ? std::string(data) + "/relate/" + name : "";
  if (!path.empty() && std::filesystem::exists(path)) return path;
  std::printf("SKIPPED: relate %s: CAMBIUM_DATA names no folder with relate/%s\n", name.c_str(), name.c_str());
  return "";
}

}  // namespace cambium::relate
