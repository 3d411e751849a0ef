#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/train/kinds/keeps_numbers.hpp"
#include "core/train/networks/torch/scripted_module.hpp"

namespace cambium::train {

/// Buffers of a module that its forward pass changes during training (running means of batch normalisation). Every pass
/// of a step starts from the buffers of the previous step; the results of the passes of all ranks are averaged over
/// their samples, bitwise identical for any order of summation.
class BufferStatistics {
 public:
  BufferStatistics() = default;
  /// `names`: the buffers that change. They keep their values.
  BufferStatistics(const ScriptedModule& module, std::vector<std::string> names);

  bool none() const { return names_.empty(); }
  const std::vector<std::string>& names() const { return names_; }
  /// Values after the last step, by name.
  KeptNumbers numbers() const;
  /// InputError when a buffer is missing or has another length.
  void set(const KeptNumbers& numbers);

  /// Drops the passes since the last end().
  void begin();
  /// Called before a pass over this many samples.
  void before_pass(std::int64_t samples);
  /// Discards the last pass.
  void drop_pass() { pending_ = 0; }
  /// Sets the module's buffers to the values of the last step, for evaluation.
  void show();
  /// Collective: averages the results of the passes.
  void end(const Comm& comm);

 private:
  void collect();
  std::vector<double> read() const;
  void write(const std::vector<double>& numbers) const;

  const ScriptedModule* module_ = nullptr;
  std::vector<std::string> names_;
  std::vector<double> current_;              ///< all buffers, concatenated
  std::vector<std::size_t> ends_;            ///< of each buffer in current_
  std::vector<std::vector<double>> passes_;  ///< buffers after each pass, times its samples
  std::int64_t samples_ = 0, pending_ = 0;   ///< of passes_; of the pass that is not yet included
};

/// Mean over all passes of all ranks of values that are given multiplied by their samples. Exact up to one rounding, to
/// 52 bits of the largest value less the bits of the number of passes, so it does not depend on the order of summation.
std::vector<double> exact_mean(const std::vector<std::vector<double>>& weighted, std::int64_t samples, std::size_t size,
                               const Comm& comm);

}  // namespace cambium::train
