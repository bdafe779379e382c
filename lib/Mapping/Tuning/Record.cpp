//===- Record.cpp - Plans that were measured --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/Tuning/Record.h"
#include "kron/Runtime/Runtime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/DJB.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <tuple>

using namespace mlir::kron;
using llvm::createStringError;
using llvm::StringRef;
namespace json = llvm::json;

/// Of the format of lines.
static constexpr int64_t kVersion = 1;

//===----------------------------------------------------------------------===//
// Keys and targets
//===----------------------------------------------------------------------===//

bool RecordKey::operator==(const RecordKey &other) const {
  auto tie = [](const RecordKey &key) {
    return std::tie(key.op, key.operands, key.flags, key.epilogue, key.rows);
  };
  return tie(*this) == tie(other);
}

std::string RecordKey::getText() const {
  std::string text = op;
  for (const std::string &operand : operands)
    text += " " + operand;
  if (rows)
    text += llvm::formatv(" rows {0}-{1}", rows->first, rows->second).str();
  if (!flags.empty())
    text += " {" + flags + "}";
  if (!epilogue.empty())
    text += " epilogue {" + epilogue + "}";
  return text;
}

std::pair<int64_t, int64_t> mlir::kron::getRowBucket(int64_t rows) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  int64_t first = 0;
  for (int64_t last : {1, 16, 196, 1024}) {
    if (rows <= last)
      return {first, last};
    first = last + 1;
  }
  return {first, std::max(rows, most)};
}

/// `operand` without its layout, if rows may lie one after the other: elements
/// of a row are next to each other, and every other stride is what it is there,
/// or known at launch only.
static StringRef dropRowMajorLayout(StringRef operand) {
  auto [array, layout] = operand.split(" strided<[");
  llvm::SmallVector<StringRef> strides, sizes;
  layout.split(']').first.split(strides, ", ");
  array.split(sizes, 'x');
  if (layout.empty() || sizes.size() <= strides.size() ||
      (strides.back() != "1" && sizes[strides.size() - 1] != "1"))
    return operand;
  // Of one row after the other; 0: not known.
  int64_t expected = 1;
  for (size_t axis = strides.size(); axis-- > 0;) {
    int64_t size = 0, stride = 0;
    sizes[axis].getAsInteger(10, size);
    bool isKnown = !strides[axis].getAsInteger(10, stride);
    // Where sizes are not known a stride of 0 repeats what it goes over.
    if (size != 1 && isKnown && (stride != expected || !stride))
      return operand;
    expected *= size;
  }
  return array;
}

std::pair<bool, bool> mlir::kron::getExactness(const RecordKey &recorded,
                                               const RecordKey &asked) {
  std::pair<bool, bool> isSame = {true, true};
  for (auto [own, other] : llvm::zip(recorded.operands, asked.operands)) {
    auto [array, layout] = StringRef(own).split(' ');
    auto [otherArray, otherLayout] = StringRef(other).split(' ');
    isSame.first &= array == otherArray;
    isSame.second &= layout == otherLayout;
  }
  return isSame;
}

bool mlir::kron::matches(const RecordKey &recorded, const RecordKey &asked) {
  if (std::tie(recorded.op, recorded.flags, recorded.epilogue) !=
          std::tie(asked.op, asked.flags, asked.epilogue) ||
      recorded.operands.size() != asked.operands.size())
    return false;
  auto isSame = [&](StringRef own, StringRef other) {
    own = dropRowMajorLayout(own);
    other = dropRowMajorLayout(other);
    while (!own.empty() && own != other) {
      auto [size, rest] = own.split('x');
      auto [otherSize, otherRest] = other.split('x');
      int64_t rows = 0;
      bool isOpen =
          size == "?" && recorded.rows && !otherSize.getAsInteger(10, rows) &&
          rows >= recorded.rows->first && rows <= recorded.rows->second;
      if (size != otherSize && !isOpen)
        return false;
      own = rest;
      other = otherRest;
    }
    return own == other;
  };
  return llvm::all_of_zip(recorded.operands, asked.operands, isSame);
}

bool RecordTarget::operator==(const RecordTarget &other) const {
  auto tie = [](const RecordTarget &target) {
    return std::tie(target.chip, target.description, target.processor,
                    target.isa, target.threads);
  };
  return tie(*this) == tie(other);
}

std::string RecordTarget::getText() const {
  if (isGPU())
    return "cuda/" + chip + "/" + description;
  return llvm::formatv("cpu/{0}/{1}/{2}", processor, isa, threads).str();
}

llvm::Expected<RecordTarget> mlir::kron::parseRecordTarget(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, '/');
  RecordTarget target;
  bool isWhole =
      llvm::none_of(parts, [](StringRef part) { return part.empty(); });
  if (isWhole && parts.size() == 3 && parts[0] == "cuda") {
    target.chip = parts[1].str();
    target.description = parts[2].str();
    return target;
  }
  if (isWhole && parts.size() == 4 && parts[0] == "cpu" &&
      !parts[3].getAsInteger(10, target.threads) && target.threads >= 0) {
    target.processor = parts[1].str();
    target.isa = parts[2].str();
    return target;
  }
  return createStringError("expects cpu/PROCESSOR/ISA/THREADS or "
                           "cuda/CHIP/DESCRIPTION, but got '" +
                           text + "'");
}

RecordTarget mlir::kron::getRecordTarget(const Processor &processor,
                                         int64_t threads) {
  RecordTarget target;
  target.processor = processor.cpu;
  target.isa = getISA(processor).str();
  target.threads = threads;
  return target;
}

RecordTarget mlir::kron::getRecordTarget(const GPUMachine &machine) {
  llvm::SmallVector<StringRef> parts;
  StringRef(machine.name).split(parts, ':');
  RecordTarget target;
  target.chip = parts.front().str();
  // An architecture stands for the first SKU that has it.
  if (parts.front().starts_with("sm_"))
    for (StringRef name : getGPUNames())
      if (llvm::cantFail(parseGPUMachine(name)).arch == machine.arch) {
        target.chip = name.str();
        break;
      }
  for (StringRef part : llvm::drop_begin(parts))
    for (StringRef key : {"sms=", "clock=", "l2="})
      if (part.starts_with(key))
        target.chip += (":" + part).str();
  std::string limits = llvm::formatv(
      "{0} {1} {2} {3} {4} {5} {6} {7} {8} {9} {10} {11} {12}", machine.arch,
      machine.hasWgmma, machine.hasCluster, machine.hasWideDMMA, machine.numSMs,
      machine.sharedBytesPerCTA, machine.sharedBytesPerSM,
      machine.reservedSharedBytesPerCTA, machine.registersPerSM,
      machine.maxRegistersPerThread, machine.maxThreadsPerSM,
      machine.maxCTAsPerSM, machine.l2Bytes);
  // 32 bits tell descriptions apart, and are read by people.
  target.description =
      llvm::utohexstr(llvm::djbHash(limits), /*LowerCase=*/true, /*Width=*/8);
  return target;
}

bool mlir::kron::matches(const RecordTarget &made, const RecordTarget &wanted) {
  if (made.isGPU() || wanted.isGPU())
    return made == wanted;
  bool isPortable = StringRef(wanted.processor).starts_with("x86-64");
  return made.isa == wanted.isa &&
         (made.processor == wanted.processor || isPortable) &&
         (made.threads == wanted.threads || wanted.threads == 0);
}

RecordOrigin RecordOrigin::getOwn(StringRef driver) {
  return {kronGetVersion(), LLVM_VERSION_STRING, driver.str(), kPlanSchema};
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

std::string Record::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream out(stream);
  auto printSeconds = [&](StringRef name, double value) {
    out.attributeBegin(name);
    out.rawValue(llvm::formatv("{0:e4}", value).str());
    out.attributeEnd();
  };
  out.object([&] {
    out.attribute("kron", kVersion);
    out.attributeObject("key", [&] {
      out.attribute("op", key.op);
      out.attributeArray("operands", [&] {
        for (const std::string &operand : key.operands)
          out.value(operand);
      });
      out.attribute("flags", key.flags);
      out.attribute("epilogue", key.epilogue);
      if (key.rows)
        out.attributeArray("rows", [&] {
          out.value(key.rows->first);
          out.value(key.rows->second);
        });
    });
    out.attributeObject("target", [&] {
      if (target.isGPU()) {
        out.attribute("chip", target.chip);
        out.attribute("description", target.description);
        return;
      }
      out.attribute("processor", target.processor);
      out.attribute("isa", target.isa);
      out.attribute("threads", target.threads);
    });
    out.attributeObject("made", [&] {
      out.attribute("kron", made.kron);
      out.attribute("plans", made.planSchema);
      out.attribute("llvm", made.llvm);
      out.attribute("driver", made.driver);
    });
    out.attribute("plan", plan);
    printSeconds("seconds", seconds);
    printSeconds("default_seconds", defaultSeconds);
    printSeconds("spread", spread);
    printSeconds("error", error);
  });
  return text;
}

namespace {
/// Reads fields of objects; keeps the first problem.
class FieldReader {
public:
  /// `object` may be null; `name` is what it is called.
  FieldReader(const json::Object *object, StringRef name, std::string &problem)
      : object(object), name(name), problem(problem) {
    if (!object)
      fail("an object");
  }

  std::string getString(StringRef field) {
    if (object)
      if (auto value = object->getString(field))
        return value->str();
    fail("a text '" + field + "'");
    return "";
  }
  int64_t getInteger(StringRef field, int64_t least) {
    if (object)
      if (auto value = object->getInteger(field); value && *value >= least)
        return *value;
    fail(llvm::formatv("an integer '{0}' of at least {1}", field, least));
    return least;
  }
  double getNumber(StringRef field) {
    if (object)
      if (auto value = object->getNumber(field);
          value && std::isfinite(*value) && *value >= 0)
        return *value;
    fail("a number '" + field + "' of at least 0");
    return 0;
  }
  bool has(StringRef field) const { return object && object->get(field); }
  FieldReader getObject(StringRef field) {
    return {object ? object->getObject(field) : nullptr, field, problem};
  }
  std::vector<std::string> getStrings(StringRef field) {
    std::vector<std::string> texts;
    const json::Array *array = object ? object->getArray(field) : nullptr;
    for (const json::Value &value : array ? *array : json::Array())
      if (auto text = value.getAsString())
        texts.push_back(text->str());
    if (!array || texts.size() != array->size())
      fail("a list of texts '" + field + "'");
    return texts;
  }
  std::optional<std::pair<int64_t, int64_t>> getRange(StringRef field) {
    const json::Array *array = object ? object->getArray(field) : nullptr;
    if (array && array->size() == 2) {
      auto first = (*array)[0].getAsInteger(),
           last = (*array)[1].getAsInteger();
      if (first && last && 0 <= *first && *first <= *last)
        return std::pair(*first, *last);
    }
    fail("two integers '" + field + "', from and to");
    return std::nullopt;
  }

private:
  void fail(const llvm::Twine &expected) {
    if (problem.empty())
      problem = ("expects '" + name + "' to have " + expected).str();
  }

  const json::Object *object;
  StringRef name;
  std::string &problem;
};
} // namespace

llvm::Expected<Record> mlir::kron::parseRecord(StringRef line) {
  llvm::Expected<json::Value> parsed = json::parse(line);
  if (!parsed)
    return parsed.takeError();
  std::string problem;
  FieldReader fields(parsed->getAsObject(), "the record", problem);
  if (int64_t version = fields.getInteger("kron", 0);
      problem.empty() && version != kVersion)
    return createStringError("expects a record of version " +
                             llvm::Twine(kVersion) + ", but got " +
                             llvm::Twine(version));
  Record record;
  FieldReader key = fields.getObject("key"),
              target = fields.getObject("target"),
              made = fields.getObject("made");
  record.key.op = key.getString("op");
  record.key.operands = key.getStrings("operands");
  record.key.flags = key.getString("flags");
  record.key.epilogue = key.getString("epilogue");
  if (key.has("rows"))
    record.key.rows = key.getRange("rows");
  if (target.has("chip")) {
    record.target.chip = target.getString("chip");
    record.target.description = target.getString("description");
  } else {
    record.target.processor = target.getString("processor");
    record.target.isa = target.getString("isa");
    record.target.threads = target.getInteger("threads", 1);
  }
  record.made.kron = made.getString("kron");
  record.made.planSchema = made.getInteger("plans", 0);
  record.made.llvm = made.getString("llvm");
  record.made.driver = made.getString("driver");
  record.plan = fields.getString("plan");
  record.seconds = fields.getNumber("seconds");
  record.defaultSeconds = fields.getNumber("default_seconds");
  record.spread = fields.getNumber("spread");
  record.error = fields.getNumber("error");
  if (!problem.empty())
    return createStringError(problem);
  return record;
}
