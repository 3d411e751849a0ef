#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/train/kinds/keeps_numbers.hpp"
#include "core/train/networks/torch/scripted_module.hpp"

namespace cambium::train {

/// Buffers of a module that its forward pass changes in training (running means of batch normalisation). Every pass of
/// a step begins with the buffers of the step before; what the passes of all ranks make of them is averaged over
/// their samples, with the same bits for any order of the sum.
class BufferStatistics {
 public:
  BufferStatistics() = default;
  /// `names`: the buffers that change. They keep what they hold.
  BufferStatistics(const ScriptedModule& module, std::vector<std::string> names);

  bool none() const { return names_.empty(); }
  const std::vector<std::string>& names() const { return names_; }
  /// Numbers after the last step, by name.
  KeptNumbers numbers() const;
  /// InputError when a buffer is missing or has another length.
  void set(const KeptNumbers& numbers);

  /// Drops the passes since the last end().
  void begin();
  /// Before a pass over so many samples.
  void before_pass(std::int64_t samples);
  /// The last pass does not count.
  void drop_pass() { pending_ = 0; }
  /// The module has the numbers of the last step: for evaluation.
  void show();
  /// Collective: takes over what the passes found.
  void end(const Comm& comm);

 private:
  void collect();
  std::vector<double> read() const;
  void write(const std::vector<double>& numbers) const;

  const ScriptedModule* module_ = nullptr;
  std::vector<std::string> names_;
  std::vector<double> current_;              ///< all buffers, one after the other
  std::vector<std::size_t> ends_;            ///< of each buffer in current_
  std::vector<std::vector<double>> passes_;  ///< what each pass made of them, times its samples
  std::int64_t samples_ = 0, pending_ = 0;   ///< of passes_; of the pass that is not among them yet
};

/// Mean over all passes of all ranks of numbers that are given times their samples. Exact but for one rounding to 52
/// bits of the largest number less the bits of the number of passes, so that no order of summation shows.
std::vector<double> exact_mean(const std::vector<std::vector<double>>& weighted, std::int64_t samples, std::size_t size,
                               const Comm& comm);

}  // namespace cambium::train
