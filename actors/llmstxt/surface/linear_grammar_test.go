package surface_test

import "strings"

// What the brace languages, and the others, have in common.
const (
	punctuation = "( ) [ ] { } < > , ; : . = => -> :: + - * / % & | ! ? @ # ~ \\ $ A b 1 1.5 \" ' ` \"A\" 'a' /* */ // /**"
	blanks      = "\n"
)

// grammar is the tokens of a language: its keywords, marks, names, and the beginnings and ends of its literals and
// comments. frame, where there is one, begins a body in which members stand.
type grammar struct{ tokens, frame string }

func (g grammar) pieces() []string {
	return append(strings.Fields(punctuation+" "+g.tokens), "\n", "\t")
}

var grammars = map[string]grammar{
	"Go": {"package import func type struct interface map chan const var go defer if else for range return select switch " +
		"case default goto break continue fallthrough := ... <- && || == nil iota // `a` 'a' //go:build", "package p\nfunc F() {\n"},
	"Python": {"def class import from as lambda if elif else for while try except finally with return yield async await " +
		"pass global nonlocal del assert raise in is not and or None __all__ \"\"\" ''' f\" f' f\"{ f\"\"\" r\" b\" rb' " +
		"\"\"\"a\"\"\" ** // := == += @overload @property @a #: >>> :a: ``", "class A:\n  "},
	"Ruby": {"def class module end if unless while until begin do case when then else elsif rescue ensure yield self nil " +
		"alias undef private public protected private_constant module_function attr_reader attr_accessor require include " +
		"extend def_delegators %w[ %q( %Q{ %( <<A <<~A <<-'A' A =begin =end #{ \"#{ :a :\"a\" /a/ ?a a? a! a= ... .. ** &. " +
		"=== <=> =~ # __END__ define_method Struct.new Class.new self.", "class A\n"},
	"Elixir": {"def defp defmodule defmacro defstruct defprotocol defimpl defdelegate defexception defguard do end fn case " +
		"cond if unless else when with for rescue catch after @doc @moduledoc @spec @type @typep @opaque @callback @impl " +
		"@deprecated false do: \"\"\" ''' ~s( ~S\"\"\" ~r/ ~w[ #{ \"#{ %{ %A{ <<>> << >> |> <> ++ :a :\"a\" a: ?a \\\\ # alias " +
		"import use require", "defmodule A do\n"},
	"Shell": {"if then elif else fi for in do done while until case esac ;; function select { } () (( )) [[ ]] && || << <<A " +
		"<<-A <<'A' <<< A >> 2>&1 $( ${ $(( $A ${A:- $'a' $' \"$( \"${ ` local export readonly declare typeset alias source . " +
		"usage: Usage: getopts -h --help) set -e # #! echo exit return", "a() {\n"},
	"JavaScript": {"export default import from as function class extends const let var async await get set static new " +
		"return if else for while do switch case typeof instanceof in of delete void throw yield try catch finally this " +
		"module namespace exports module.exports require( Object.defineProperty( prototype ... **  === ++ -- && || ?? ?. /[ " +
		"/a/ `${ ${ </ /> <a <a> </a> <A <A> <> </> #a \\u {/* @a \"use", "export class A {\n"},
	"TypeScript": {"export default import from as function class extends const let var async await get set static new " +
		"return if else for while typeof instanceof in of keyof infer readonly unique asserts is interface type enum " +
		"namespace module declare abstract implements global private protected public override satisfies unknown accessor " +
		"module.exports exports require( ... ** === ++ && || ?? ?. /[ /a/ `${ ${ </ /> <a <a> </a> <A> <T,> #a @a", "export class A {\n"},
	"Rust": {"fn pub mod use impl trait struct enum type const static let mut ref self Self super crate where for in as dyn " +
		"unsafe extern async await move match if else loop while return macro_rules! union r# r#\" r##\" \"# b\" b' 'a '\\'' " +
		"#[ #![ #[derive( /// //! /*! .. ..= -> => == && || << >> &mut a! $a $( $x:expr pub(crate) pub(in vec![", "impl A {\n"},
	"Java": {"package import class interface enum record @interface extends implements throws throw public private " +
		"protected static final abstract synchronized native default void int new return if else for while do switch case " +
		"this super sealed non-sealed permits module requires \"\"\" @Override @A @A( -> :: ... >> >>> && || == ++ {@link <p>", "public class A {\n"},
	"Kotlin": {"package import class interface object enum data sealed open inner value companion fun val var get() set( by " +
		"where constructor init this super typealias if else when for while do return throw try catch is as in out reified " +
		"inline suspend operator infix override private public internal protected abstract vararg \"\"\" \"${ \"$a ${ `a` ?. ?: " +
		"!! .. ..< @A @A( @file: -> :: == === && ||", "class A {\n"},
	"Swift": {"import class struct enum protocol extension actor func var let init deinit subscript typealias " +
		"associatedtype operator precedencegroup case indirect public open internal private fileprivate static final " +
		"override mutating async throws rethrows await try where is as some any inout get set if else guard for in while " +
		"switch return self Self @available( @A #if #else #elseif #endif #available \"\"\" #\" \"# \\( \"\\( ... ..< -> ?? && || ==", "public class A {\n"},
	"C#": {"using namespace class struct interface enum record delegate event public private protected internal static " +
		"readonly const abstract sealed virtual override async extern unsafe new partial volatile required implicit explicit " +
		"operator this base where get set init add remove return if else for foreach in out ref params void int string " +
		"@\" $\" $@\" $\"\"\" \"\"\" $$ @ @A #if #else #endif #region #endregion #nullable [A] [A( => ?? ?. :: << && || == /// <summary>", "public class A {\n"},
	"PHP": {"<?php ?> <? <?= namespace use class interface trait enum extends implements function fn public private " +
		"protected static final abstract readonly const var new return if else elseif foreach for while switch case match " +
		"echo define( $a $this {$ ${ \"{$ \"${ <<<A <<<'A' <<<\"A\" A; A -> ?-> :: => ... ?? && || === . #[ # #[A( @param /** insteadof", "<?php class A {\n"},
	"C": {"typedef struct union enum extern static inline const volatile unsigned int char void return if else for while do " +
		"switch case goto sizeof register _Noreturn __attribute__(( __declspec( __extension__ _Static_assert AB AB( asm " +
		"operator class #if #ifdef #ifndef #else #elif #endif #define #include #pragma #error ... -> ++ << && || == L\" u8\" R\" // \\", "struct A {\n"},
	"C++": {"typedef struct union enum class namespace template typename using extern static inline const constexpr " +
		"volatile mutable virtual explicit friend operator public: private: protected: final override noexcept requires " +
		"concept decltype auto int void return if else for try catch throw new delete default this alignas( [[ ]] [[a]] " +
		"static_assert AB AB( ~A A:: :: ... -> << >> && || == <=> R\"( R\"a( )\" L\" u8R\" #if #else #endif #define #include __attribute__(( \\", "class A { public:\n"},
}
