// A Torch network trained through the same deck keys as any other. This file sees no Torch.
#include <cmath>
#include <filesystem>

#include "core/io/hdf5/h5.hpp"
#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"
#include "core/train/networks/torch/register.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train.hpp"
#include "core/train/session.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/shared_scratch.hpp"
#include "tests/train/data/sample_shards.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// 240 images of 8 x 8: a bright row (class 0) or column (class 1) on a background that varies.
void write_bars(const std::string& path) {
  std::vector<std::uint8_t> images, labels;
  for (int k = 0; k < 240; ++k) {
    const int label = k % 2, place = 1 + k / 2 % 6;
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        const bool bright = (label ? j : i) == place;
        images.push_back(static_cast<std::uint8_t>(bright ? 200 : (37 * k + 11 * i * j + 5 * j) % 80));
      }
    labels.push_back(static_cast<std::uint8_t>(label));
  }
  auto file = io::File::create(path);
  file.write("image", io::tensor_of(images.data(), {240, 8, 8}));
  file.write("label", labels);
  file.close();
}

std::string keys_of(const std::string& data, const std::string& reduce, const std::string& precision) {
  return "{network: {type: conv_net, channels: [4], hidden: 8, precision: " + precision +
         "}, dataset: {type: hdf5, files: [" + data +
         "], fields: [{name: image}, {name: label}], range: [0, 200]}, validation: {type: hdf5, files: [" + data +
         "], fields: [{name: image}, {name: label}], range: [200, 240]}, loader: {type: buffered, buffer_size: 0.01}, "
         "batch: 24, steps: 60, optimizer: adam, learning_rate: {type: constant, start: 0.01}, reduce: {" +
         reduce + "}, validate: {every: 60}, log: 60}";
}

struct Result {
  std::vector<float> weights;
  double wrong = 1.0;
};

/// Trains on all ranks, in the folder `name` of the scratch.
Result train_in(SharedScratch& scratch, Comm& comm, const std::string& name, const std::string& keys) {
  Registry registry;
  register_training(registry);
  register_torch(registry);
  Log log;
  Timing timing;
  const std::string folder = scratch.file(name);
  std::filesystem::create_directories(folder);
  Context context{comm, log, timing, &registry, 5, folder, "", "", nullptr, false, false};
  registry.make<Task>("train", deck::parse(keys, "test"), context)->run(context);
  comm.barrier();
  Result out;
  const auto file = io::File::open(folder + "/model.h5");
  for (const auto& array : file.group("weights").list()) {
    const auto values = file.read<std::vector<float>>("weights/" + array);
    out.weights.insert(out.weights.end(), values.begin(), values.end());
  }
  out.wrong = file.read<double>("card/validation_wrong");
  return out;
}

}  // namespace

TEST_CASE("a convolutional network learns to tell rows from columns, in every precision") {
  World world;
  SharedScratch scratch(world.comm);
  if (world.comm.root()) write_bars(scratch.file("bars.h5"));
  world.comm.barrier();
  for (const std::string precision : {"float32", "bfloat16", "float64"})
    CHECK(train_in(scratch, world.comm, precision, keys_of(scratch.file("bars.h5"), "mode: fast", precision)).wrong <
          0.1);
}

TEST_CASE("with ordered sums a Torch network ends with the same bits on any number of ranks") {
  World world;
  SharedScratch scratch(world.comm);
  if (world.comm.root()) write_bars(scratch.file("bars.h5"));
  world.comm.barrier();
  const std::string keys = keys_of(scratch.file("bars.h5"), "mode: ordered, micro_batches: 8", "float32");
  const auto together = train_in(scratch, world.comm, "together", keys);
  Comm self(MPI_COMM_SELF);
  const auto alone = train_in(scratch, self, "alone" + std::to_string(world.comm.rank()), keys);
  CHECK(together.weights == alone.weights);
  CHECK(together.weights.size() == 4 * 9 + 4 + 8 * 64 + 8 + 2 * 8 + 2);
}

TEST_CASE("a host program gets a Torch network's outputs in its own memory, any strides") {
  World world;
  const std::int64_t n = 24;
  std::vector<double> images, labels;
  for (std::int64_t k = 0; k < n; ++k) {
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j)
        images.push_back((k % 2 ? j : i) == 1 + k / 2 % 6 ? 2.0
                                                          : 0.01 * static_cast<double>((37 * k + 11 * i * j) % 80));
    labels.push_back(static_cast<double>(k % 2));
  }
  const std::vector<HostArray> arrays{{"image", io::tensor_of(images.data(), {n, 8, 8}), ""},
                                      {"label", io::tensor_of(labels.data(), {n}), ""}};
  Session session(
      world.comm.handle(),
      "network: {type: conv_net, channels: [4], hidden: 8}\nlearning_rate: {type: constant, start: 0.003}\n",
      register_torch);
  for (int k = 0; k < 12; ++k) session.step(arrays);
  REQUIRE(session.outputs().size() == 1);
  CHECK(session.outputs()[0].shape == std::vector<std::int64_t>{2});
  // Columns of a matrix with a row to spare, which must stay as it was.
  std::vector<double> memory(2 * (n + 1), -7.0);
  TensorRef columns = io::tensor_of(memory.data(), {n, 2});
  columns.stride[0] = 1;
  columns.stride[1] = n + 1;
  session.infer(arrays, std::vector<HostArray>{{"output", columns, ""}});
  double wrong = 0.0, entropy = 0.0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
    const double first = memory[k], second = memory[k + static_cast<std::size_t>(n) + 1];
    CHECK(first + second == Approx(1.0));
    wrong += ((second > first) != (labels[k] == 1.0)) / static_cast<double>(n);
    entropy -= std::log(labels[k] == 1.0 ? second : first) / static_cast<double>(n);
  }
  const auto judged = session.evaluate(arrays);
  CHECK(wrong == Approx(judged[0]));
  CHECK(entropy == Approx(judged[1]).epsilon(1e-5));
  CHECK(memory[n] == -7.0);
  CHECK(memory.back() == -7.0);
}
