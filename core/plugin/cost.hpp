#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace cambium {

/// One kind of message of a time step, for the busiest rank. Values are per step, fractional if not every step has one.
struct StepMessages {
  enum class Pattern {
    neighbours,  ///< straight to some ranks nearby
    reduce,      ///< a sum or maximum over all ranks that all get
    gather,      ///< data of each rank, to all others
  };
  std::string name;
  Pattern pattern = Pattern::neighbours;
  double rounds = 0.0;    ///< in which the rank waits for others
  double messages = 0.0;  ///< that it sends one by one; 0 of collectives
  double sent = 0.0;      ///< B that it sends
  double received = 0.0;  ///< B that it receives
  int dimensions = 1;     ///< of the grid of ranks, the last dimension varying fastest; neighbours only
  double behind = 0.0;    ///< fraction of the step's work that overlaps with it
};

/// A time step and the memory of the busiest of some ranks.
struct StepCost {
  std::string parts;        ///< domains of the ranks: "4 x 2 x 2 bricks"
  double items = 0.0;       ///< that this rank works on
  double operations = 0.0;  ///< in the precision of the physics; 0 when not known
  double moved = 0.0;       ///< B between memory and CPU or device, at least
  double repeated = 0.0;    ///< of these, traffic repeated on every rank, however many there are
  double memory = 0.0;      ///< B that are kept
  std::vector<StepMessages> messages;
  double sent() const {
    double sum = 0.0;
    for (const auto& m : messages) sum += m.sent;
    return sum;
  }
  double received() const {
    double sum = 0.0;
    for (const auto& m : messages) sum += m.received;
    return sum;
  }
  double sent_messages() const {
    double sum = 0.0;
    for (const auto& m : messages) sum += m.messages;
    return sum;
  }
};

/// Cost of the steps of a physics on any number of ranks, from its keys only: nothing of the size of the problem is
/// allocated. It has the name and the Params of the physics; used by `cambium plan`.
class Cost {
 public:
  using Kind = Cost;
  static constexpr std::string_view kind = "cost";
  virtual ~Cost() = default;
  /// One line: the size of the problem, and what determines the cost of a step.
  virtual std::string summary() const = 0;
  /// Item that the rate of a run counts: "atom".
  virtual std::string item() const = 0;
  /// For the complete problem of the deck.
  virtual double items() const = 0;
  /// The problem `times` as large as in the deck, on `ranks` ranks. InputError if it cannot be divided so.
  virtual StepCost of(int ranks, double times) const = 0;
};

/// Requirements of a potential in addition to positions and forces; for costs of dynamics. A potential that is not of
/// this type is planned only by a measured rate.
struct AtomCost {
  double operations = 0.0;   ///< of one atom and step
  double forward_words = 0;  ///< of 8 B, of each ghost and step, from its owner
};
class CostsPerAtom {
 public:
  virtual ~CostsPerAtom() = default;
  /// `neighbours`: within the cut-off of an atom.
  virtual AtomCost atom_cost(double neighbours) const = 0;
};

}  // namespace cambium
