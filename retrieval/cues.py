"""What a text shows by single words: a number, a time, a question. In many languages, by word lists.

A cue is a hint for a bounded prior, so a missed or a false one costs little; the lists leave out
words that mean something else more often (`one`, `may`, French `hier`, which is Dutch for `here`).
It sees one text at a time and knows nothing of queries, scores or notes.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SCRIPTS = {
    "cyrillic": re.compile("[Ѐ-ӿ]"),
    "han": re.compile("[ぁ-ヿ一-鿿]"),
    "hangul": re.compile("[가-힣]"),
    "thai": re.compile("[฀-๿]"),
    "arabic": re.compile("[؀-ۿ]"),
    "hebrew": re.compile("[֐-׿]"),
    "devanagari": re.compile("[ऀ-ॿ]"),
}

_ByScript = tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]


def _by_script(**parts: str) -> _ByScript:
    """A script's characters with what to find in it, composed as `_folded` composes the text."""
    return tuple(
        (_SCRIPTS[script], re.compile(unicodedata.normalize("NFKC", pattern)))
        for script, pattern in parts.items()
    )


_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
# `1. Buy milk` counts nothing.
_LIST_MARK = re.compile(r"^\s*\d{1,3}[.)]\s", re.MULTILINE)
# A digit that no Latin letter precedes: 3 in `3rd`, `有3个`, `$5`, but none in `E1234` or `IPv6`.
_DIGITS = re.compile(r"(?<![A-Za-z\d_])\d")

# `One` is left out in every language: it is the article, or nearly.
_NUMBER_WORDS = _words(
    """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
    hundreds thousand thousands million millions billion dozen dozens twice thrice half
    twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien
    zeventien achttien negentien twintig dertig veertig vijftig zestig zeventig tachtig negentig
    honderd duizend miljoen miljard dozijn tweemaal driemaal
    zwei drei fünf sechs sieben neun zehn zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn
    achtzehn neunzehn zwanzig dreißig dreissig vierzig fünfzig sechzig siebzig achtzig neunzig
    hundert tausend million millionen milliarde dutzend zweimal dreimal
    deux trois quatre cinq sept huit neuf dix douze treize quatorze quinze vingt trente
    quarante cinquante soixante cent cents mille milliard douzaine
    dos tres cuatro cinco seis siete ocho nueve diez doce trece catorce quince veinte treinta
    cuarenta cincuenta sesenta setenta ochenta noventa cien ciento mil millón millones docena
    tre quattro cinque sette nove dieci undici dodici venti trenta quaranta cinquanta
    sessanta settanta ottanta novanta cento milione dozzina
    dois duas três quatro sete oito dez doze vinte trinta quarenta cinquenta cem milhão dúzia
    два две двое три трое четыре пять шесть семь восемь девять десять двадцать тридцать сорок
    пятьдесят шестьдесят семьдесят восемьдесят девяносто сто двести триста тысяча тысячи тысяч
    миллион миллиона миллионов дважды трижды
    två fyra fem sju åtta nio tio tjugo hundra tusen syv otte tyve hundre hundrede tusind
    dwa dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć dwadzieścia sto tysiąc
    iki üç dört beş altı yedi sekiz dokuz yirmi otuz kırk elli milyon
    """
)
# Scripts without spaces, or with words grown together: found inside words.
_NUMBER_PARTS = _by_script(
    # Chinese and Japanese: a numeral above one before a counter, or a compound such as 十二;
    # without 十分 (very) and 万一 (in case).
    han=r"(?!十分(?![钟鐘]))[二两兩三四五六七八九十百千万萬亿億半]\s*"
    r"(?:[个個次年月日天周週号號点點分秒岁歲元块塊円人名位只隻条條张張台臺件本杯倍歳回枚匹冊階つ米时時小%]|[ヶか]月)"
    r"|(?![万萬]一)[二三四五六七八九两兩]?[十百千万萬][一二三四五六七八九]"
    r"|ふたつ|みっつ|よっつ|いつつ|むっつ|ななつ|やっつ|ここのつ|ふたり",
    # The short numerals only before a counter.
    hangul=r"(?<![가-힣])(?:두|세|네|열)\s?(?:개|명|번|마리|권|시간|달|살)"
    r"|(?<![가-힣])(?:두|세|네|열)\s(?:시|주|잔|대|장)|다섯|여섯|일곱|여덟|아홉|스물|서른|마흔|[이삼사오육칠팔구]십",
    # Without สามารถ (can), สามี (husband), สามัญ (common), ห้าม (forbid), ห้าง (shop),
    # เก้าอี้ (chair), เรียบร้อย (tidy).
    thai="สอง|สาม(?!ารถ|ี|ัญ)|สี่|ห้า(?![มง])|เจ็ด|แปด|เก้า(?!อี้)|สิบ|(?<!เรียบ)ร้อย",
    # Without Tuesday, Wednesday and the Persian weekdays.
    arabic="اثنان|اثنين|ثلاث(?!اء)|أربع(?!اء)|خمسة|خمسين|ستة|ستين|سبعة|سبعين|ثماني|تسعة|تسعين|عشر|مئة|مائة|ألف|مليون"
    r"|\bدو\b|\bسه\b|چهار(?!شنبه)|پنج(?!شنبه)|هفت\b|هشت|\bصد\b|هزار",
    hebrew=r"\b[בלהו]?(?:שתיים|שניים|שתי|שלוש|ארבע|חמש|חמיש|שש|שיש|שבע|שמונ|תשע|עשר|עשרים|מאה|מאתיים|אלף|אלפיים|מיליון)ה?\b",
    devanagari=r"(?<!\w)(?:दो|तीन|चार|पाँच|पांच|छह|सात|आठ|नौ|दस|बीस|सौ|हज़ार|हजार|लाख)(?!\w)",
)

_TIME_WORDS = _words(
    """
    january february march april june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
    fridays saturdays sundays yesterday today tomorrow tonight ago noon midnight fortnight
    januari februari maart mei juni juli augustus oktober
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag gisteren eergisteren vandaag morgen
    overmorgen vanavond vannacht geleden gisteravond
    januar jänner februar märz mai august dezember montag dienstag mittwoch donnerstag freitag
    samstag sonnabend sonntag montags dienstags mittwochs donnerstags freitags samstags sonntags
    gestern vorgestern heute übermorgen mitternacht
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    lundi mardi mercredi jeudi vendredi samedi dimanche aujourd demain minuit
    enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre
    diciembre lunes martes miércoles jueves viernes sábado domingo ayer anteayer hoy mañana
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre lunedì martedì
    mercoledì giovedì venerdì sabato domenica ieri oggi domani
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro ontem hoje amanhã
    terça
    вчера позавчера сегодня завтра послезавтра назад полдень полночь
    понедельник вторник среду четверг пятница пятницу суббота субботу воскресенье
    igår idag imorgon måndag tisdag onsdag torsdag fredag lördag söndag mandag tirsdag lørdag søndag
    wczoraj dzisiaj jutro poniedziałek wtorek środa czwartek piątek sobota niedziela
    dün bugün yarın pazartesi salı çarşamba perşembe cuma cumartesi
    """
)
_RELATIVE = _words(
    """
    last next this past coming previous vorige volgende afgelopen deze komende voorbije
    letzte letzten letzter letztes nächste nächsten nächster nächstes diese diesen dieser dieses
    vergangene vergangenen kommende kommenden
    dernier dernière derniers dernières prochain prochaine ce cette
    pasado pasada próximo próxima este esta último última
    scorso scorsa prossimo prossima questo questa passado passada
    прошлой прошлом прошлый прошлую следующей следующем эту этой этом
    """
)
_UNITS = _words(
    """
    week weeks weekend month months year years night morning evening afternoon spring summer autumn
    fall winter days hours minutes weken maand maanden jaar jaren nacht ochtend avond middag dagen
    lente zomer herfst woche wochen wochenende monat monate monaten jahr jahre jahren abend tage
    tagen frühling sommer herbst semaine semaines mois an ans année années soir matin nuit jours
    printemps été automne hiver semana semanas mes meses año años noche días verano invierno
    settimana settimane mese mesi anno anni notte giorni estate inverno mês ano anos noite dias
    неделе неделю месяц месяце год году лето зиму
    """
)
_MONTHS_SHORT = "(?:jan|feb|febr|fév|févr|mar|mrt|mär|apr|avr|may|jun|jul|aug|ago|sep|sept|okt|oct|nov|dec|dez|déc|dic)"
# Tried only on texts with a digit: 2026-05-08, 8.5.2026, 5/8/26; a year that stands alone; 14:30,
# 3 pm; 5 may, may 5.
_BARE_LINE = re.compile(
    r"[ \t]*(?:[-*+>][ \t]+)*(?:(?:!\[\[[^\[\]]*\]\]|!\[[^\[\]]*\]\([^()]*\)|<[^<>]*>)[ \t]*)*"
    r"|[ \t]*#{1,6}[ \t].*"
    r"|[ \t]*[\w -]{1,40}[:\uff1a][ \t]*(?:\[\]|\"\"|\{\{[^{}]*\}\})?[ \t]*"
)
_TIMES_IN_DIGITS = re.compile(
    r"(?<!\d)\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|(?<!\d)\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})(?!\d)"
    r"|(?<![\w.,$€£])(?:19|20)\d\d(?![\w%]|[.,]\d)|(?<!\d)[012]?\d:[0-5]\d(?!\d)"
    r"|\d\s?[ap]\.?m\b|\d\s?uur\b|\d\s?uhr\b|\b[012]?\d\s?h\s?[0-5]\d\b"
    rf"|\d(?:st|nd|rd|th|er|\.)?\s{_MONTHS_SHORT}\b|\b{_MONTHS_SHORT}\.?\s\d"
)
# Tried only on texts with one of `_PHRASE_WORDS`. May needs its preposition: it is mostly the verb.
_TIME_PHRASES = re.compile(
    r"\b(?:in|last|next|this|since|until|by|of|early|late|mid)[\s-]may\b|\bo['’]clock\b"
    r"|\bil y a (?:\w+ )?\w+ (?:jours?|semaines?|mois|ans?|heures?)\b"
    r"|\bhace (?:\w+ )?\w+ (?:días?|semanas?|meses|mes|años?|horas?)\b"
    r"|\bvor (?:\w+ )?\w+ (?:tagen?|wochen?|monaten?|jahren?|stunden?)\b"
    r"|\bhier (?:soir|matin)\b"
)
_PHRASE_WORDS = _words("may clock il hace vor hier")
_TIME_PARTS = _by_script(
    # Months in every case.
    cyrillic=r"\b(?:январ|феврал|апрел|июн[ьяе]|июл[ьяе]|август|сентябр|октябр|ноябр|декабр)|\bмарт[ае]?\b|\bма[яей]\b",
    # Without 目前天 and 以后天, which are cut elsewhere (now, later).
    han=r"[\d〇零一二三四五六七八九十]\s?[年月日号號]|[\d二三四五六七八九十]\s?[点點時时]|[天日年月周週]前"
    r"|(?:星期|周|週|礼拜|禮拜)[一二三四五六日天末]|[月火水木金土日]曜|(?<![以之然目])[昨今明前后後去][天年]|[昨今]晚|[上下][个個]?[周週月]"
    r"|[昨今明]日|一昨日|[先今来][週月]|[昨今]夜|きのう|きょう|あした|おととい",
    hangul=r"\d\s?[년월일시]|[월화수목금토일]요일|어제|오늘|내일|그저께|모레|지난주|지난달|작년|올해|내년|이번\s?주|다음\s?[주달]",
    thai="มกราคม|กุมภาพันธ์|มีนาคม|เมษายน|พฤษภาคม|มิถุนายน|กรกฎาคม|สิงหาคม|กันยายน|ตุลาคม|พฤศจิกายน|ธันวาคม"
    "|วัน(?:จันทร์|อังคาร|พุธ|พฤหัส|ศุกร์|เสาร์|อาทิตย์|นี้)|เมื่อวาน|พรุ่งนี้|(?:ปี|เดือน|สัปดาห์)ที่แล้ว|โมง|นาฬิกา",
    # Arabic, then Persian.
    arabic=r"يناير|فبراير|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر|\bمارس\b"
    r"|الاثنين|الإثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت\b|الأحد|\bأمس\b|البارحة|اليوم\b|غدا|الماضي|الساعة"
    "|دیروز|امروز|فردا|شنبه|فروردین|اردیبهشت|خرداد|مرداد|شهریور",
    hebrew=r"ינואר|פברואר|אפריל|במאי\b|יוני\b|יולי\b|אוגוסט|ספטמבר|אוקטובר|נובמבר|דצמבר|אתמול|שלשום|היום\b|מחר\b"
    r"|יום\s(?:ראשון|שני|שלישי|רביעי|חמישי|שישי)|בשבת\b|שעברה?",
    devanagari="जनवरी|फ़रवरी|फरवरी|अप्रैल|जुलाई|अगस्त|सितंबर|अक्टूबर|नवंबर|दिसंबर"
    "|सोमवार|मंगलवार|बुधवार|गुरुवार|शुक्रवार|शनिवार|रविवार|बजे",
)
# Marks of many scripts (the Greek one is its own character, not `;`), then spoken forms that are
# written without one.
_QUESTION_ENDS = ("?", "？", "؟", "\u037e", "⸮", "ですか", "ますか", "吗", "嗎", "ไหม", "หรือเปล่า")
_AFTER_QUESTION = " \t\n\r\"'’”»)]*_」』。."
_EARLIER_WORDS = _words(
    """
    first before earlier previously originally initially formerly
    eerst eerste vroeger voorheen eerder aanvankelijk oorspronkelijk
    zuerst erste ersten erstes früher vorher anfangs ursprünglich damals
    avant auparavant initialement première autrefois antes primero primera inicialmente
    prima inizialmente primeiro primeira раньше сначала прежде изначально первый впервые
    """
)
_EARLIER_PARTS = re.compile(
    r"\bused to\b|\bau début\b|\bal principio\b|\bd['’]abord\b"
    r"|以前|之前|最初|原来|原來|第一次|当初|前は|もともと|元々|はじめ|처음|전에|예전|원래"
    r"|แต่ก่อน|แต่เดิม|ครั้งแรก|ก่อนหน้า|قبل|سابق|أول|قبلا|בעבר|לפני|בהתחלה|הראשון|पहले"
)
# Sure signs that a question is after how things were, or after how they are now.
_PAST_PARTS = re.compile(
    r"\bused to\b|\bpreviously\b|\bformerly\b|\boriginally\b|\binitially\b|\bback then\b|\bat first\b"
    r"|\bvroeger\b|\bvoorheen\b|\baanvankelijk\b|\boorspronkelijk\b|\bdestijds\b"
    r"|\bfrüher\b|\bvorher\b|\banfangs\b|\bursprünglich\b|\bdamals\b|\beinst\b"
    r"|\bautrefois\b|\bauparavant\b|\binitialement\b|\bà l['’]origine\b|\bau début\b"
    r"|以前(?:は|の|用|的|是|在|住|叫)|(?<![\d年月日天周])以前|原来(?:的|用|是|叫|在)|原來(?:的|用|是|叫|在)|当初|當初|最初|曾经|曾經"
    r"|かつて|もともと|元々|当時|예전|원래|처음에"
)
_CURRENT_PARTS = re.compile(
    r"\b(?:latest|newest|current|currently|most recent|nowadays|at the moment|at present|as of now|right now)\b"
    r"|\b(?:nieuwste|huidige|momenteel|tegenwoordig|op dit moment|nu)\b"
    r"|\b(?:neueste[nrsm]?|aktuell(?:e[nrsm]?)?|derzeit|momentan|heutzutage|jetzt|zurzeit)\b"
    r"|\b(?:actuel(?:le)?s?|actuellement|maintenant|en ce moment|plus récente?s?)\b"
    r"|目前|最新|现在|現在|如今|当前|當前|今の|いまの|현재|지금|최신"
)


def is_bare(text: str) -> bool:
    """Whether a passage points or names and says nothing: embeds, images, a heading, fields without a value."""
    return all(_BARE_LINE.fullmatch(line) for line in text.splitlines())


def has_number(text: str) -> bool:
    """Whether the text holds a number above one, in digits or in words; an identifier is none."""
    folded = _folded(text)
    if _DIGITS.search(_LIST_MARK.sub("", folded)):
        return True
    if not _NUMBER_WORDS.isdisjoint(_WORD.findall(folded)):
        return True
    return _holds_part(folded, _NUMBER_PARTS)


def has_time_word(text: str) -> bool:
    """Whether the text says when: a date, a clock time, a month, a weekday, `two weeks ago`."""
    folded = _folded(text)
    words = _WORD.findall(folded)
    if not _TIME_WORDS.isdisjoint(words):
        return True
    if any(_names_a_time(one, other) for one, other in pairwise(words)):
        return True
    if _DIGIT.search(folded) and _TIMES_IN_DIGITS.search(folded):
        return True
    if not _PHRASE_WORDS.isdisjoint(words) and _TIME_PHRASES.search(folded):
        return True
    return _holds_part(folded, _TIME_PARTS)


def is_question(text: str) -> bool:
    """Whether the text ends as a question."""
    return text.rstrip(_AFTER_QUESTION).endswith(_QUESTION_ENDS)


def asks_for_earlier(query: str) -> bool:
    """Whether the query wants how things were (first, before, used to), not how they are."""
    folded = _folded(query)
    return (
        not _EARLIER_WORDS.isdisjoint(_WORD.findall(folded))
        or _EARLIER_PARTS.search(folded) is not None
    )


def asks_for_past(query: str) -> bool:
    """Whether the query surely wants how things were: `used to`, `originally`, not a mere `before`."""
    return _PAST_PARTS.search(_folded(query)) is not None


def asks_for_current(query: str) -> bool:
    """Whether the query surely wants how things are now: `latest`, `current`."""
    return _CURRENT_PARTS.search(_folded(query)) is not None


def _names_a_time(one: str, other: str) -> bool:
    """`last week`, and where the adjective follows, `semaine dernière`."""
    return (one in _RELATIVE and other in _UNITS) or (one in _UNITS and other in _RELATIVE)


def _holds_part(folded: str, parts: _ByScript) -> bool:
    return not folded.isascii() and any(
        script.search(folded) and pattern.search(folded) for script, pattern in parts
    )


def _folded(text: str) -> str:
    """Lower case, composed, and no full-width digits: what the lists are written in."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()
