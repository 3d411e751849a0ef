#include "core/parallel/farm/number_farm.hpp"

#include <cstring>
#include <memory>

#include "core/parallel/agree.hpp"
#include "core/parallel/farm/graph_farm.hpp"

namespace cambium::tasks {

namespace {

/// A graph without dependencies.
class PieceGraph : public TaskGraph {
 public:
  explicit PieceGraph(const NumberPieces& pieces) : pieces_(pieces) {}
  std::int64_t size() const override { return pieces_.count; }
  void inputs(std::int64_t, std::vector<std::int64_t>& out) const override { out.clear(); }
  std::size_t output_bytes(std::int64_t k) const override { return pieces_.numbers(k) * sizeof(double); }
  double cost(std::int64_t k) const override { return pieces_.cost(k); }
  void run(std::int64_t k, std::span<const Input> inputs, std::span<std::byte> output) const override {
    run_long(k, inputs, output, [] {});
  }
  void run_long(std::int64_t k, std::span<const Input>, std::span<std::byte> output,
                const std::function<void()>& breathe) const override {
    std::vector<double> numbers(pieces_.numbers(k));
    pieces_.make(k, numbers, breathe);
    if (!numbers.empty()) std::memcpy(output.data(), numbers.data(), output.size());
  }

 private:
  const NumberPieces& pieces_;
};

}  // namespace

std::optional<std::vector<double>> numbers_by_need(const NumberPieces& pieces, const NumberJournal& journal,
                                                   const Comm& comm, Log& log, const FarmOptions& options,
                                                   const std::function<bool()>& stop) {
  std::unique_ptr<TaskJournal> file;
  io::on_root(comm, [&] { file = std::make_unique<TaskJournal>(journal.path, journal.key, journal.resume); });
  const auto result = run_by_need(PieceGraph(pieces), comm, log, options, file.get(), stop);
  if (!result.complete) return {};
  std::size_t count = 0;
  for (std::int64_t k = 0; k < pieces.count; ++k) count += pieces.numbers(k);
  std::vector<double> out;
  out.reserve(count);
  for (const auto& value : result.values) {  // on rank 0
    out.resize(out.size() + value.size() / sizeof(double));
    if (!value.empty())
      std::memcpy(out.data() + out.size() - value.size() / sizeof(double), value.data(), value.size());
  }
  out.resize(count);
  comm.broadcast(out);
  return out;
}

}  // namespace cambium::tasks
