//===- PlannerTest.h - What tests of planners share -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TEST_UNIT_PLANNERTEST_H
#define KRON_TEST_UNIT_PLANNERTEST_H

#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPUMachine.h"
#include "kron/Mapping/GPU/GivenFields.h"
#include "kron/Plan/GPU/DerivedFields.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <variant>

namespace mlir::kron {

inline GPUMachine getMachine(StringRef name) {
  return llvm::cantFail(parseGPUMachine(name));
}

/// Those of the tests: each has another architecture, or other rates.
inline constexpr const char *kMachines[] = {"h200", "h100-pcie", "a100-80",
                                            "l4", "rtx5090"};
/// Those with wgmma, and with f64 instructions that dmma needs.
inline constexpr const char *kHopperMachines[] = {"h200", "h100-pcie"};

/// A fused region that applies factors of K x N to some axes of one array.
struct Example {
  std::string element;
  /// Of the input; -1: dynamic. Factors are applied from the last axis on.
  SmallVector<int64_t> sizes;
  SmallVector<int64_t> axes;
  /// N of each of `axes`; empty: as K.
  SmallVector<int64_t> results = {};
  /// Axes that all factors vary on; their sizes are the first ones of factors.
  SmallVector<int64_t> varying = {};
  /// Whether factors lie in memory as N x K.
  bool isTransposed = false;
  /// Of the input: which of its axes in memory each axis is; empty: the same.
  SmallVector<int64_t> permutation = {};
};

/// Rows of `groups` x K, each group with a factor of K x N, which are taken for
/// rows of N x `groups`, whose columns have a factor of N x M each.
struct ChainExample {
  std::string element;
  int64_t rows, groups, sizeK, sizeN, sizeM;
};

/// "8x?xf64"
inline std::string getShape(ArrayRef<int64_t> sizes, StringRef element) {
  std::string text;
  for (int64_t size : sizes)
    text += (size < 0 ? std::string("?") : std::to_string(size)) + "x";
  return text + element.str();
}

inline std::string getName(const Example &example) {
  return getShape(example.sizes, example.element);
}
inline std::string getName(const ChainExample &example) {
  return getShape({example.rows, example.groups, example.sizeK},
                  example.element);
}

/// "#kron.gpu_plan<kernel = mma, threads = 64>"
inline std::string getPlanText(StringRef kernel, StringRef fields) {
  return ("#kron.gpu_plan<kernel = " + kernel + (fields.empty() ? "" : ", ") +
          fields + ">")
      .str();
}

/// The one plan, or the last one.
inline GPUPlanAttr getPlan(const PlansOrReason &plans) {
  if (auto *reason = std::get_if<std::string>(&plans)) {
    ADD_FAILURE() << *reason;
    return {};
  }
  const auto &found = std::get<SmallVector<GPUPlanAttr>>(plans);
  for (GPUPlanAttr plan : found)
    EXPECT_TRUE(plan.isComplete());
  return found.back();
}

template <typename Answer> std::string getReason(const Answer &answer) {
  auto *reason = std::get_if<std::string>(&answer);
  return reason ? *reason : "none";
}

/// What an attribute prints.
inline std::string getText(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// That the choices of `plan` are what writing and reading gives back, and
/// printing and parsing.
inline void expectSamePrinted(GPUPlanAttr plan) {
  EXPECT_EQ(parseAttribute(getText(plan), plan.getContext()), plan);
}

template <typename Choices> void expectSameWritten(GPUPlanAttr plan) {
  Choices choices;
  PlanReader reader(plan);
  Choices::visitFields(reader, choices);
  PlanWriter writer(plan.getContext(), plan.getKernel());
  Choices::visitFields(writer, choices);
  EXPECT_EQ(writer.getPlan(), plan);
  expectSamePrinted(plan);
}

/// That `machine` has room for CTAs of `threads`, each of which has values in
/// `registers`, and `bytes` of shared memory.
inline void expectFits(const GPUMachine &machine, int64_t threads,
                       int64_t ctasPerSM, int64_t bytes, int64_t registers) {
  EXPECT_GE(threads, 32);
  EXPECT_EQ(threads % 32, 0);
  EXPECT_LE(threads, machine.maxThreadsPerCTA);
  EXPECT_GE(ctasPerSM, 1);
  EXPECT_LE(ctasPerSM, machine.maxCTAsPerSM);
  EXPECT_LE(threads * ctasPerSM, machine.maxThreadsPerSM);
  EXPECT_LE(bytes, machine.getSharedBytes(ctasPerSM));
  EXPECT_GE(machine.getRegistersPerThread(threads, ctasPerSM), registers);
}

/// That `reason` names the field and the value of `fields`, "threads = 96".
inline void expectNames(StringRef reason, StringRef fields) {
  auto [name, value] = fields.split(" = ");
  EXPECT_TRUE(reason.contains(name) && reason.contains(value))
      << fields.str() << ": " << reason.str();
}

class GPUPlanners : public testing::Test {
protected:
  GPUPlanners() {
    context.loadDialect<KronDialect, func::FuncDialect, memref::MemRefDialect,
                        tensor::TensorDialect, arith::ArithDialect>();
  }

  /// The operation of kind Op in `text`.
  template <typename Op> Op parse(StringRef text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    Op found;
    if (module)
      module->walk([&](Op op) { found = op; });
    EXPECT_TRUE(found) << text.str();
    modules.push_back(std::move(module));
    return found;
  }

  /// `example` on memrefs, with `plan`, the text of an attribute.
  FusedOp build(const Example &example, StringRef plan = "");
  FusedOp build(const ChainExample &example, StringRef plan = "");

  /// Why a plan of the text `plan` is none for `example`.
  template <auto read, typename AnyExample = Example>
  std::string getReadReason(const AnyExample &example, StringRef plan) {
    auto op = build(example);
    auto attribute =
        dyn_cast_if_present<GPUPlanAttr>(parseAttribute(plan, &context));
    EXPECT_TRUE(attribute && attribute.isComplete()) << plan.str();
    return attribute ? getReason(read(op, attribute)) : "";
  }

  /// That `planner` honours each of `given`, "threads = 96", one at a time.
  template <auto planner, typename AnyExample = Example>
  void expectHonours(StringRef kernel, const AnyExample &example,
                     ArrayRef<const char *> given, StringRef machine = "h200") {
    for (StringRef fields : given) {
      SCOPED_TRACE(fields.str());
      std::string text = getPlanText(kernel, fields);
      ASSERT_EQ(getAttributeReason(text), "none");
      GPUPlanAttr plan =
          getPlan(planner(build(example, text), getMachine(machine)));
      ASSERT_TRUE(plan);
      auto wanted = cast<GPUPlanAttr>(parseAttribute(text, &context));
      EXPECT_EQ(findContradiction(wanted, plan), "");
      // What the kernel has no such field for is not in the plan.
      for (NamedAttribute field : wanted.getFields())
        if (Attribute value = plan.getFields().get(field.getName())) {
          EXPECT_EQ(value, field.getValue());
        }
    }
  }

  /// What `planner` says of `op`; where it refuses, or has other plans than
  /// those that are given, with the fields to blame, as --kron-plan does.
  template <auto planner, typename Op>
  PlansOrReason planGiven(Op op, const GPUMachine &machine) {
    auto plan = [&]() -> PlansOrReason {
      auto found = planner(op, machine);
      if (auto *reason = std::get_if<std::string>(&found))
        return *reason;
      SmallVector<GPUPlanAttr> plans;
      if constexpr (std::is_same_v<decltype(found), PlansOrReason>)
        plans = std::get<SmallVector<GPUPlanAttr>>(found);
      else
        plans = {std::get<GPUPlanAttr>(found)};
      if (GPUPlanAttr given = getGPUPlanAttr(op))
        if (std::string unmet = findUnmet(op, given, plans); !unmet.empty())
          return unmet;
      return plans;
    };
    PlansOrReason plans = plan();
    if (auto *reason = std::get_if<std::string>(&plans))
      return nameGivenFields(op, *reason, plan);
    return plans;
  }

  /// That `planner`, or the verifier before it, refuses each of `given`, and
  /// names it and what is expected.
  template <auto planner, typename AnyExample = Example>
  void expectRefuses(StringRef kernel, const AnyExample &example,
                     ArrayRef<const char *> given, StringRef machine = "h200") {
    for (StringRef fields : given) {
      std::string text = getPlanText(kernel, fields);
      std::string reason = getAttributeReason(text);
      if (reason == "none")
        reason = getReason(
            planGiven<planner>(build(example, text), getMachine(machine)));
      expectNames(reason, fields);
      EXPECT_TRUE(StringRef(reason).contains("expects")) << reason;
    }
  }

  /// That `read` takes `plan`, and it or the verifier before it refuses that
  /// with each of `wrong` instead, and names why.
  template <auto read, typename Op>
  void expectReaderRefuses(Op op, GPUPlanAttr plan,
                           ArrayRef<std::pair<const char *, int64_t>> wrong) {
    ASSERT_TRUE(plan && plan.isComplete());
    EXPECT_EQ(getReason(read(op, plan)), "none");
    for (auto [name, value] : wrong) {
      NamedAttrList fields(plan.getFields());
      fields.set(name, Builder(&context).getI64IntegerAttr(value));
      GPUPlanAttr changed;
      std::string reason = catchError([&] {
        changed = GPUPlanAttr::getChecked(
            [&] { return emitError(UnknownLoc::get(&context)); }, &context,
            plan.getKernel(), fields.getDictionary(&context));
      });
      if (changed)
        reason = getReason(read(op, changed));
      expectNames(reason, name + (" = " + std::to_string(value)));
    }
  }

  /// The error that `body` emits, or "none".
  template <typename Body> std::string catchError(Body body) {
    std::string error = "none";
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { error = diagnostic.str(); });
    body();
    return error;
  }

  /// Why `text` is no attribute, or "none".
  std::string getAttributeReason(StringRef text) {
    return catchError([&] { (void)parseAttribute(text, &context); });
  }

  MLIRContext context;
  SmallVector<OwningOpRef<ModuleOp>> modules;
};

inline FusedOp GPUPlanners::build(const ChainExample &example, StringRef plan) {
  auto [element, rows, groups, sizeK, sizeN, sizeM] = example;
  auto shape = [&, &element = element](ArrayRef<int64_t> sizes) {
    return getShape(sizes, element);
  };
  std::string x = shape({rows, groups, sizeK}),
              k = shape({groups, sizeN, sizeK}),
              l = shape({sizeM, sizeN, groups}),
              y = shape({rows, sizeM, groups});
  // What lies between is not rounded.
  auto between = [&, rows = rows](SmallVector<int64_t> sizes) {
    sizes.insert(sizes.begin(), rows);
    return "tensor<" + getShape(sizes, "f32") + ">";
  };
  std::string first = between({groups, sizeN}),
              flat = between({groups * sizeN}),
              second = between({sizeN, groups});
  bool isOpen = rows < 0;
  std::string count = isOpen ? "%n" : std::to_string(rows);
  std::string text = "func.func @f(%x: memref<" + x + ">, %k: memref<" + k +
                     ">, %l: memref<" + l + ">, %y: memref<" + y +
                     ">) {\n kron.fused ins(%x, %k, %l : memref<" + x +
                     ">, memref<" + k + ">, memref<" + l +
                     ">) outs(%y : memref<" + y + ">)";
  if (!plan.empty())
    text += " attributes {plan = " + plan.str() + "}";
  text += " {\n ^bb0(%tx: tensor<" + x + ">, %tk: tensor<" + k +
          ">, %tl: tensor<" + l + ">, %ty: tensor<" + y + ">):\n";
  if (isOpen)
    text += "%c0 = arith.constant 0 : index\n"
            "%n = tensor.dim %ty, %c0 : tensor<" +
            y + ">\n";
  text +=
      "%e = tensor.empty(" + std::string(isOpen ? "%n" : "") + ") : " + first +
      "\n%0 = kron.mode_product axis(2) ins(%tx : tensor<" + x +
      ">) factor(%tk [1, q, p] : tensor<" + k + ">) outs(%e : " + first +
      ") -> " + first +
      "\n%1 = tensor.collapse_shape %0 [[0], [1, 2]] : " + first + " into " +
      flat + "\n%2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [" +
      count + ", " + std::to_string(sizeN) + ", " + std::to_string(groups) +
      "] : " + flat + " into " + second +
      "\n%3 = kron.mode_product axis(1) ins(%2 : " + second +
      ") factor(%tl [q, p, 2] : tensor<" + l + ">) outs(%ty : tensor<" + y +
      ">) -> tensor<" + y + ">\nkron.yield %3 : tensor<" + y +
      ">\n }\n return\n}\n";
  return parse<FusedOp>(text);
}

inline FusedOp GPUPlanners::build(const Example &example, StringRef plan) {
  auto getName = [](StringRef name, int64_t number) {
    return ("%" + name + Twine(number)).str();
  };
  unsigned count = example.axes.size();
  SmallVector<int64_t> results(example.results);
  if (results.empty())
    for (int64_t axis : example.axes)
      results.push_back(example.sizes[axis]);
  // What the factors vary on comes first in their shapes.
  std::string roles;
  for (int64_t axis : example.varying)
    roles += std::to_string(axis) + ", ";
  roles += example.isTransposed ? "q, p]" : "p, q]";
  auto getFactor = [&](int64_t sizeK, int64_t sizeN) {
    SmallVector<int64_t> shape;
    for (int64_t axis : example.varying)
      shape.push_back(example.sizes[axis]);
    shape.append({sizeK, sizeN});
    if (example.isTransposed)
      std::swap(shape.back(), shape[shape.size() - 2]);
    return getShape(shape, example.element);
  };
  SmallVector<int64_t> out(example.sizes);
  std::string names, memrefs, arguments, inside;
  for (unsigned number = 0; number < count; ++number) {
    std::string shape =
        getFactor(example.sizes[example.axes[number]], results[number]);
    out[example.axes[number]] = results[number];
    names += ", " + getName("f", number);
    memrefs += ", memref<" + shape + ">";
    arguments += ", " + getName("f", number) + ": memref<" + shape + ">";
    inside += ", " + getName("a", number) + ": tensor<" + shape + ">";
  }
  std::string in = getShape(example.sizes, example.element);
  SmallVector<int64_t> memory(example.sizes);
  SmallVector<std::string> attributes;
  if (!plan.empty())
    attributes.push_back("plan = " + plan.str());
  if (!example.permutation.empty()) {
    for (auto [axis, place] : llvm::enumerate(example.permutation))
      memory[place] = example.sizes[axis];
    auto numbers = llvm::map_range(
        example.permutation, [](int64_t axis) { return std::to_string(axis); });
    attributes.push_back(
        "input_permutation = array<i64: " + llvm::join(numbers, ", ") + ">");
  }
  std::string array = getShape(memory, example.element);
  std::string text = "func.func @f(%x: memref<" + array + ">, %y: memref<" +
                     getShape(out, example.element) + ">" + arguments +
                     ") {\n kron.fused ins(%x" + names + " : memref<" + array +
                     ">" + memrefs + ") outs(%y : memref<" +
                     getShape(out, example.element) + ">)";
  if (!attributes.empty())
    text += " attributes {" + llvm::join(attributes, ", ") + "}";
  text += " {\n ^bb0(%t: tensor<" + in + ">" + inside + ", %o: tensor<" +
          getShape(out, example.element) + ">):\n";
  std::string dynamic;
  for (auto [axis, size] : llvm::enumerate(example.sizes)) {
    if (size >= 0)
      continue;
    text += getName("c", axis) + " = arith.constant " + std::to_string(axis) +
            " : index\n" + getName("d", axis) + " = tensor.dim %t, " +
            getName("c", axis) + " : tensor<" + in + ">\n";
    dynamic += (dynamic.empty() ? "" : ", ") + getName("d", axis);
  }
  SmallVector<int64_t> sizes(example.sizes);
  std::string value = "%t";
  for (unsigned number = count; number-- > 0;) {
    int64_t axis = example.axes[number];
    std::string before = "tensor<" + getShape(sizes, example.element) + ">";
    std::string factor = getFactor(sizes[axis], results[number]);
    sizes[axis] = results[number];
    std::string after = "tensor<" + getShape(sizes, example.element) + ">";
    std::string target = "%o";
    if (number > 0) {
      target = getName("e", number);
      text += target + " = tensor.empty(" + dynamic + ") : " + after + "\n";
    }
    text += getName("r", number) + " = kron.mode_product axis(" +
            std::to_string(axis) + ") ins(" + value + " : " + before +
            ") factor(" + getName("a", number) + " [" + roles + " : tensor<" +
            factor + ">) outs(" + target + " : " + after + ") -> " + after +
            "\n";
    value = getName("r", number);
  }
  text += "kron.yield " + value + " : tensor<" +
          getShape(out, example.element) + ">\n }\n return\n}\n";
  return parse<FusedOp>(text);
}

} // namespace mlir::kron

#endif // KRON_TEST_UNIT_PLANNERTEST_H
