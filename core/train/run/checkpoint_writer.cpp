#include "core/train/run/checkpoint_writer.hpp"

#include <filesystem>
#include <optional>
#include <utility>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/run/node_memory.hpp"
#include "core/run/summary/stage_files.hpp"
#include "core/train/run/train_checkpoint.hpp"
#include "core/train/weights/whole_pieces.hpp"

namespace cambium::train {

using Transfer = TrainCheckpointKeys::Transfer;

void TrainCheckpointKeys::describe(deck::Describe<TrainCheckpointKeys>& d) {
  describe_in(d);
  d("transfer", &TrainCheckpointKeys::transfer,
    "output of weights and optimizer states: collected on rank 0 (gather); or without any rank that holds all of a "
    "sharded model, into one file by MPI-IO (collective) or into one file per rank (per_rank)")
      .options({{"gather", Transfer::gather}, {"collective", Transfer::collective}, {"per_rank", Transfer::per_rank}})
      .def(Transfer::gather);
  d("asynchronous", &TrainCheckpointKeys::asynchronous,
    "asynchronous output: each rank copies its part in memory, and a thread writes it to disk during the next steps; "
    "requires transfer: per_rank")
      .def(false);
}

CheckpointWriter::CheckpointWriter(const TrainCheckpointKeys& keys, const Context& context)
    : keys_(keys), context_(context) {
  if (keys.asynchronous && keys.transfer != Transfer::per_rank)
    throw KeyError("train.checkpoint.asynchronous", "checkpoint.asynchronous",
                   "checkpoint.asynchronous needs a file of each rank, which a thread writes without messages; use "
                   "transfer: per_rank with it");
  if (context.dry_run) return;
  memory_ = node_memory_of(context.run_directory);
  if (!memory_.empty()) copies_every_ = require_steps_between_copies(context.comm);
}

/// On rank 0: removes old checkpoints.
void CheckpointWriter::prune(const std::string& path) const {
  const auto folder = std::filesystem::path(path).parent_path().string();
  constexpr int in_memory = 2;  // one may be incomplete when a rank dies
  prune_checkpoints(folder, folder == memory_ ? in_memory : keys_.keep);
}

void CheckpointWriter::write(const std::string& path, Weights& weights, const CheckpointParts& parts) {
  wait();
  const bool best = parts.progress.best_step >= 0;
  if (keys_.transfer == Transfer::gather) {
    write_train_checkpoint(path, weights.save(best), parts);
    if (context_.comm.root()) prune(path);
    return;
  }
  with_pieces(weights, parts, [&](InPieces& pieces, const HeadOfWeights& head) {
    if (keys_.transfer == Transfer::collective) return write_collectively(path, pieces, parts, head);
    if (!keys_.asynchronous) return finish(*with_shares(path, {}, pieces, parts, head));
    share_memory_bytes_ = {};
    behind_ = with_shares(path, std::move(share_memory_), pieces, parts, head);
    if (pieces.ledger()) share_memory_bytes_ = Counted(*pieces.ledger(), Held::copies, behind_->shares.bytes());
    behind_->shares.start();
  });
}

void CheckpointWriter::with_pieces(Weights& weights, const CheckpointParts& parts,
                                   const std::function<void(InPieces&, const HeadOfWeights&)>& use) const {
  const bool best = parts.progress.best_step >= 0;
  Snapshot whole;
  std::optional<WholePieces> of_whole;
  InPieces* pieces = weights.in_pieces();
  if (!pieces) {
    whole = weights.save(best);
    pieces = &of_whole.emplace(whole, parts.key.states, context_.comm.rank(), context_.comm.size());
  }
  use(*pieces, {weights.layout(), pieces->steps(), best});
}

void CheckpointWriter::copy_to_memory(Weights& weights, const CheckpointParts& parts) {
  const auto path = (std::filesystem::path(memory_) / checkpoint_name(parts.progress.step)).string();
  with_pieces(weights, parts, [&](InPieces& pieces, const HeadOfWeights& head) {
    finish(*with_shares(path, {}, pieces, parts, head));
  });
}

/// Creates an array of a file and allocates its space on disk.
static void allocate(io::File& file, const io::SharedArray& array, std::int64_t numbers) {
  const std::int64_t shape[] = {numbers};
  // HDF5 has no type for bfloat16.
  auto made = file.allocate(array.name, array.dtype == DType::bf16 ? DType::i32 : array.dtype, shape);
  if (array.dtype == DType::bf16) made.set_attribute("holds", "16 raw bits");
}

static void write_block(io::Dataset& to, DType dtype, std::int64_t first, std::span<const std::byte> bytes) {
  const std::int64_t start[] = {first}, count = std::ssize(bytes) / size_of(dtype);
  if (dtype == DType::bf16) {
    const auto* bits = reinterpret_cast<const std::uint16_t*>(bytes.data());
    const std::vector<std::int32_t> wide(bits, bits + count);
    to.write_block(start, io::tensor_of(wide));
  } else {
    with_real(dtype, [&]<class T>() {
      to.write_block(start, io::tensor_of(reinterpret_cast<const T*>(bytes.data()), {count}));
    });
  }
}

void CheckpointWriter::write_collectively(const std::string& path, InPieces& pieces, const CheckpointParts& parts,
                                          const HeadOfWeights& head) {
  const Comm& comm = context_.comm;
  std::optional<io::AtomicFile> target;
  const auto arrays = pieces.arrays(head.has_best);
  with_head(parts, head, [&](const FillFile& fill) {
    target.emplace(path);
    io::File file = io::File::create(target->part(), path);
    fill(file);
    for (const auto& array : arrays) allocate(file, array, head.layout.parameters());
    file.close();
  });
  {
    const auto extents = pieces.written();
    io::File file = io::File::open_collective(path + ".part", comm);
    io::on_every_rank(comm, [&] {
      for (const auto& array : arrays) {
        io::Dataset to = file.dataset(array.name);
        std::size_t k = 0;
        pieces.write(array, [&](std::span<const std::byte> numbers) {
          write_block(to, array.dtype, extents[k++].first, numbers);
        });
      }
    });
    file.close();
  }
  io::seal(path + ".part", path, comm);
  io::on_root(comm, [&] {
    target->commit();
    prune(path);
  });
}

std::unique_ptr<CheckpointWriter::Behind> CheckpointWriter::with_shares(const std::string& path,
                                                                        std::optional<std::vector<char>> behind,
                                                                        InPieces& pieces, const CheckpointParts& parts,
                                                                        const HeadOfWeights& head) const {
  const Comm& comm = context_.comm;
  const auto arrays = pieces.arrays(head.has_best);
  std::unique_ptr<Behind> out(new Behind{path, {path, arrays, pieces.written(), std::move(behind), comm}, {}});
  io::on_every_rank(comm, [&] {
    for (const auto& array : arrays)
      pieces.write(array, [&](std::span<const std::byte> numbers) { out->shares.put(numbers); });
  });
  with_head(parts, head, [&](const FillFile& fill) { fill(out->manifest.emplace(path)); });
  return out;
}

/// Waits until all per-rank files are on disk or one has failed; then writes the manifest.
void CheckpointWriter::finish(Behind& behind) const {
  behind.shares.finish();
  io::on_root(context_.comm, [&] {
    behind.shares.describe(*behind.manifest);
    const auto image = behind.manifest->sealed_image();
    if (context_.stop) context_.stop->require_directory(true);
    io::write_file_atomically(behind.path, {image.data(), image.size()});
    behind.shares.remove_others();
    prune(behind.path);
  });
}

void CheckpointWriter::look() {
  if (!behind_) return;
  const int state = context_.comm.max(static_cast<int>(behind_->shares.state()));
  if (static_cast<io::ShareWriter::State>(state) != io::ShareWriter::State::running) wait();
}

void CheckpointWriter::wait() {
  if (!behind_) return;
  const auto ending = std::exchange(behind_, {});
  finish(*ending);
  share_memory_ = ending->shares.take_memory();
}

}  // namespace cambium::train
