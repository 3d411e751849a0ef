#include "plugins/mace/archive/pickle.hpp"

#include <fmt/format.h>

#include <bit>
#include <map>

#include "core/base/error.hpp"

namespace cambium::mace {

using Kind = PickleValue::Kind;

const PickleValue* PickleValue::find(std::string_view key) const {
  if (kind != Kind::dict) return nullptr;
  for (std::size_t k = 0; k + 1 < items.size(); k += 2)
    if (items[k]->is(Kind::text) && items[k]->text == key) return items[k + 1];
  return nullptr;
}

namespace {

/// The stack machine: operations only push values.
class Machine {
 public:
  Machine(std::string_view bytes, const std::string& source, std::deque<PickleValue>& values)
      : bytes_(bytes), source_(source), values_(values) {}

  PickleValue* run() {
    for (;;) {
      const auto operation = static_cast<unsigned char>(take(1)[0]);
      if (operation == '.') return pop();
      if (!scalar(operation) && !container(operation) && !memo(operation) && !call(operation))
        throw InputError(
            fmt::format("{}: operation 0x{:02x} of its pickle is not known; write the file with protocol 2 to 4",
                        source_, static_cast<int>(operation)));
    }
  }

 private:
  [[noreturn]] void damaged() const { throw InputError(fmt::format("{}: its pickle is damaged", source_)); }
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) throw InputError(fmt::format("{}: its pickle is truncated", source_));
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  std::uint64_t number(int bytes) {
    const auto text = take(bytes);
    std::uint64_t value = 0;
    for (int k = bytes; k-- > 0;) value = value << 8 | static_cast<unsigned char>(text[k]);
    return value;
  }
  std::string line() {
    const auto end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) throw InputError(fmt::format("{}: its pickle is truncated", source_));
    const std::string text(take(end - at_));
    take(1);
    return text;
  }
  PickleValue* push(Kind kind) {
    values_.push_back({});
    values_.back().kind = kind;
    stack_.push_back(&values_.back());
    return stack_.back();
  }
  PickleValue* top() {
    if (stack_.empty() || !stack_.back()) damaged();
    return stack_.back();
  }
  PickleValue* pop() {
    PickleValue* value = top();
    stack_.pop_back();
    return value;
  }
  /// Removes and returns the stack above the last mark, which is removed, too.
  std::vector<PickleValue*> above_mark() {
    std::size_t k = stack_.size();
    while (k > 0 && stack_[k - 1]) --k;
    if (k == 0) damaged();
    std::vector<PickleValue*> items(stack_.begin() + static_cast<std::ptrdiff_t>(k), stack_.end());
    stack_.resize(k - 1);
    return items;
  }
  void text(std::uint64_t size) { push(Kind::text)->text = take(size); }
  void integer(std::int64_t value) { push(Kind::integer)->integer = value; }
  void boolean(bool value) { push(Kind::boolean)->integer = value; }
  void long_integer(std::uint64_t size) {
    if (size > 8) {
      take(size);
      return integer(0);  // hashes of compiled code, which models do not need
    }
    std::uint64_t value = number(static_cast<int>(size));
    if (size > 0 && size < 8 && (value >> (8 * size - 1) & 1u)) value |= ~std::uint64_t{0} << (8 * size);
    integer(static_cast<std::int64_t>(value));
  }
  void real() {
    const auto bytes = take(8);
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    push(Kind::real)->real = std::bit_cast<double>(value);
  }
  bool scalar(unsigned char operation);
  bool container(unsigned char operation);
  bool memo(unsigned char operation);
  bool call(unsigned char operation);
  void tuple(std::size_t size) {
    std::vector<PickleValue*> items(size);
    for (std::size_t k = size; k-- > 0;) items[k] = pop();
    push(Kind::tuple)->items = std::move(items);
  }
  void add(std::vector<PickleValue*> items, Kind kind) {
    PickleValue* to = top();
    if (kind == Kind::dict && items.size() % 2 != 0) damaged();
    if (!to->is(kind)) return;  // a class with its own items, which models do not need
    to->items.insert(to->items.end(), items.begin(), items.end());
  }
  void global(std::string name) { push(Kind::global)->text = std::move(name); }
  void object();

  std::string_view bytes_;
  const std::string& source_;
  std::deque<PickleValue>& values_;
  std::uint64_t at_ = 0;
  std::vector<PickleValue*> stack_;  ///< null: a mark
  std::map<std::uint64_t, PickleValue*> memo_;
};

bool Machine::scalar(unsigned char operation) {
  switch (operation) {
    case 'N':
      push(Kind::none);
      return true;
    case 0x88:
      boolean(true);
      return true;
    case 0x89:
      boolean(false);
      return true;
    case 'K':
      integer(static_cast<std::int64_t>(number(1)));
      return true;
    case 'M':
      integer(static_cast<std::int64_t>(number(2)));
      return true;
    case 'J':
      integer(static_cast<std::int32_t>(number(4)));
      return true;
    case 0x8a:
      long_integer(number(1));
      return true;
    case 0x8b:
      long_integer(number(4));
      return true;
    case 'G':
      real();
      return true;
    case 'X':
    case 'B':
    case 'T':
      text(number(4));
      return true;
    case 0x8c:
    case 'C':
    case 'U':
      text(number(1));
      return true;
    case 0x8d:
    case 0x8e:
      text(number(8));
      return true;
    default:
      return false;
  }
}

bool Machine::container(unsigned char operation) {
  switch (operation) {
    case '(':
      stack_.push_back(nullptr);
      return true;
    case ')':
      push(Kind::tuple);
      return true;
    case 0x85:
      tuple(1);
      return true;
    case 0x86:
      tuple(2);
      return true;
    case 0x87:
      tuple(3);
      return true;
    case 't': {
      auto items = above_mark();
      push(Kind::tuple)->items = std::move(items);
      return true;
    }
    case ']':
    case 0x8f:
      push(Kind::list);
      return true;
    case 'l': {
      auto items = above_mark();
      push(Kind::list)->items = std::move(items);
      return true;
    }
    case 'a': {
      PickleValue* item = pop();
      add({item}, Kind::list);
      return true;
    }
    case 'e':
    case 0x90:
      add(above_mark(), Kind::list);
      return true;
    case '}':
      push(Kind::dict);
      return true;
    case 's': {
      PickleValue* value = pop();
      PickleValue* key = pop();
      add({key, value}, Kind::dict);
      return true;
    }
    case 'u':
      add(above_mark(), Kind::dict);
      return true;
    default:
      return false;
  }
}

bool Machine::memo(unsigned char operation) {
  const auto get = [&](std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) damaged();
    stack_.push_back(found->second);
    return true;
  };
  const auto put = [&](std::uint64_t key) { return memo_[key] = top(), true; };
  switch (operation) {
    case 'q':
      return put(number(1));
    case 'r':
      return put(number(4));
    case 0x94:
      return put(memo_.size());
    case 'h':
      return get(number(1));
    case 'j':
      return get(number(4));
    case '0':
      if (stack_.empty()) damaged();
      stack_.pop_back();
      return true;
    case '2': {
      PickleValue* value = top();
      stack_.push_back(value);
      return true;
    }
    case 0x80:
      take(1);
      return true;
    case 0x95:
      take(8);
      return true;
    default:
      return false;
  }
}

/// Callable and arguments become an object with the callable's name; an ordered dictionary becomes a dictionary.
void Machine::object() {
  PickleValue* arguments = pop();
  PickleValue* callable = pop();
  if (callable->text == "collections.OrderedDict") {
    push(Kind::dict);
    return;
  }
  PickleValue* made = push(Kind::object);
  made->text = callable->text;
  made->items = arguments->items;
}

bool Machine::call(unsigned char operation) {
  switch (operation) {
    case 'c': {
      const auto module = line();
      global(module + "." + line());
      return true;
    }
    case 0x93: {
      PickleValue* name = pop();
      PickleValue* module = pop();
      global(module->text + "." + name->text);
      return true;
    }
    case 'R':
    case 0x81:
      object();
      return true;
    case 0x92:
      pop();
      object();
      return true;
    case 'b': {
      PickleValue* state = pop();
      top()->state = state;
      return true;
    }
    case 'Q': {
      PickleValue* id = pop();
      push(Kind::storage)->items = id->items;
      return true;
    }
    default:
      return false;
  }
}

}  // namespace

Pickle::Pickle(std::string_view bytes, const std::string& source) { root_ = Machine(bytes, source, values_).run(); }

}  // namespace cambium::mace
